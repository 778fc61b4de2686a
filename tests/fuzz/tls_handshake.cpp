// SPDX-License-Identifier: LGPL-2.1-or-later
// Input: a byte for the role and the number of pieces; then what the peer of a TLS handshake sends, who does not have
// the key. The same bytes are the attributes of a message of the kernel.
#include "input.h"

#include <sys/socket.h>

#include "libctl/keys/tls_handshake.h"
#include "record_keys.h"
#include "psk_store.h"
#include "handshake_family.h"
#include "libctl/base/epoll.h"

using namespace tlsd;
using nofctl::KeySerial;
using nofctl::OwnedFd;
using nvmeof::Result;
using State = TlsHandshake::State;

namespace {

// Has a key for each identity of NVMe/TCP
struct Store : PskStore {
	Result<Psk> read(KeySerial serial, KeySerial) override { return made("NVMe0R01 host subsystem", serial); }
	Result<Psk> find(std::string_view identity, KeySerial) override
	{
		searches++;
		expect(identity.size() <= longestIdentity, "no identity is too long");
		return made(identity, 1);
	}
	static Result<Psk> made(std::string_view identity, KeySerial serial)
	{
		const auto hash = hashOfIdentity(identity);
		if (!hash)
			return nvmeof::errorFromErrno(ENOKEY);
		const std::size_t size = *hash == nofctl::KeyHash::sha256 ? 32 : 48;
		return Psk{serial, std::string(identity), *hash, nofctl::SecretBytes(size)};
	}

	int searches = 0;
};

const TlsContexts &contexts()
{
	static Result<TlsContexts> made = TlsContexts::create();
	return made.value();
}

void handshake(TlsRole role, std::size_t pieces, Bytes bytes)
{
	int fds[2];
	expect(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0, "a pair of sockets");
	const OwnedFd own(fds[0]);
	OwnedFd peer(fds[1]);
	Store store;
	TlsHandshake handshake(contexts(), store, role, own.get(), {1}, 0);
	State state = handshake.advance();
	const std::size_t piece = bytes.size() / pieces + 1;
	while (!bytes.empty() && state == State::wantsRead) {
		const Bytes front = bytes.first(std::min(piece, bytes.size()));
		bytes = bytes.subspan(front.size());
		expect(::send(peer.get(), front.data(), front.size(), MSG_NOSIGNAL) ==
			       static_cast<ssize_t>(front.size()),
		       "the socket takes the bytes");
		state = handshake.advance();
	}
	peer = OwnedFd();
	if (state == State::wantsRead)
		state = handshake.advance();
	expect(state == State::failed, "a peer without the key fails");
	expect(handshake.failure().status > 0 && !handshake.failure().reason.empty(), "a failure has a reason");
	expect(store.searches <= 16, "few searches for keys"); // 8 of each of two ClientHellos
}

void attributes(Bytes bytes)
{
	acceptedSocket(std::as_bytes(bytes));
	const Result<HandshakeRequest> request = HandshakeRequest::parse(std::as_bytes(bytes));
	if (!request)
		return;
	const HandshakeRequest &read = *request;
	expect(read.keys.size() <= 16 && read.peerName.size() <= 255, "a request has bounds");
	expect(std::ranges::count(read.keys, 0) == 0, "0 is no key");
}

} // namespace

void fuzz(Input in)
{
	const auto how = in.take<std::uint8_t>();
	const Bytes bytes = in.rest();
	attributes(bytes);
	if (bytes.size() > 100'000) // more than a socket holds
		return;
	handshake(how & 1 ? TlsRole::client : TlsRole::server, 1 + (how >> 1) % 8, bytes);
}
