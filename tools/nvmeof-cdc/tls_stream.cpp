// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tls_stream.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <nvmeof/connect.h>
#include <nvmeof/discovery.h>

#include "libctl/keys/tls_psk.h"

namespace cdc {

using nofctl::KeySerial;
using nofctl::Psk;
using nvmeof::Result;

namespace {

constexpr std::size_t maxRecord = 16384; // bytes of data: RFC 8446, 5.1
// Of a connection. A key is good for 2^24 records at least (RFC 8446, 5.5), so that no host needs many.
constexpr unsigned maxKeyUpdates = 16;

// Counts the KeyUpdates that OpenSSL processes
void noteMessage(int written, int, int contentType, const void *message, std::size_t length, ssl_st *, void *count)
{
	if (!written && contentType == SSL3_RT_HANDSHAKE && length > 0 &&
	    *static_cast<const std::uint8_t *>(message) == SSL3_MT_KEY_UPDATE)
		++*static_cast<unsigned *>(count);
}

// The errno of recv(2) or send(2) that says the same
int errnoOf(int sslError)
{
	switch (sslError) {
	case SSL_ERROR_WANT_READ:
	case SSL_ERROR_WANT_WRITE:
		return EAGAIN;
	case SSL_ERROR_SYSCALL:
		return ECONNRESET;
	}
	return EPROTO;
}

} // namespace

TlsStream::TlsStream(std::shared_ptr<const Security::Current> security, const Identity &identity, int socket)
	: security_(std::move(security)), contexts_(security_->tls), identity_(identity),
	  handshake_(*contexts_, *this, nofctl::TlsRole::server, socket, {}, 0)
{
}

TlsStream::State TlsStream::advance()
{
	const State state = handshake_.advance();
	if (state != State::done)
		return state;
	const auto identity = nofctl::TlsIdentity::parse(handshake_.identity());
	peer_ = {identity->hostnqn, identity->subsysnqn, handshake_.cipher(), handshake_.identity()};
	security_.reset();
	// By default, a single call reads messages without data as long as the peer sends them.
	SSL_clear_mode(handshake_.tls(), SSL_MODE_AUTO_RETRY);
	SSL_set_msg_callback(handshake_.tls(), noteMessage);
	SSL_set_msg_callback_arg(handshake_.tls(), &keyUpdates_);
	return state;
}

Result<Psk> TlsStream::read(KeySerial, KeySerial)
{
	return nvmeof::errorFromErrno(ENOKEY, "the service has no keyring"); // a server does not ask for it
}

// Keys are derived when a host names one: for each host there would be several, of which it uses one.
Result<Psk> TlsStream::find(std::string_view text, KeySerial)
{
	const auto identity = nofctl::TlsIdentity::parse(text);
	if (!identity)
		return nvmeof::errorFromErrno(ENOKEY, "the peer names no key of NVMe/TCP");
	if (identity->subsysnqn != nvmeof::discoveryNqn && identity->subsysnqn != identity_.nqn)
		return nvmeof::errorFromErrno(ENOKEY, "its key is for another subsystem than this service");
	const HostKeys::Key *key = security_->keys->of(identity->hostnqn);
	if (!key || key->tls.empty() || key->unusable)
		return nvmeof::errorFromErrno(ENOKEY, "there is no usable .tls key for host " + identity->hostnqn);
	const auto configured = nofctl::TlsPsk::parse(key->tls);
	if (!configured)
		return nvmeof::errorFromErrno(ENOKEY, configured.error().message);
	for (const auto label : {nofctl::HkdfLabel::rfc8446, nofctl::HkdfLabel::libnvme115}) {
		auto derived = nofctl::deriveTlsPsk(*configured, identity->hostnqn, identity->subsysnqn,
						    identity->version, label);
		if (derived && derived->identity == text)
			return Psk{0, std::string(text), identity->hash, std::move(derived->secret)};
	}
	return nvmeof::errorFromErrno(ENOKEY, "the key of host " + identity->hostnqn + " is another one there");
}

ssize_t TlsStream::receive(std::span<std::uint8_t> to)
{
	ERR_clear_error();
	std::size_t done = 0;
	if (SSL_read_ex(handshake_.tls(), to.data(), to.size(), &done) == 1)
		return static_cast<ssize_t>(done);
	const int error = SSL_get_error(handshake_.tls(), 0);
	ERR_clear_error();
	if (error == SSL_ERROR_ZERO_RETURN)
		return 0;
	if (keyUpdates_ > maxKeyUpdates) {
		errno = EPROTO;
		return -1;
	}
	// The answer to a KeyUpdate that does not fit into the socket: hosts send none, and to wait for that would need
	// a state of its own.
	errno = error == SSL_ERROR_WANT_WRITE ? EPROTO : errnoOf(error);
	return -1;
}

// The first record's worth of @parts, which are copied: OpenSSL would make a record of each
ssize_t TlsStream::send(std::span<const iovec> parts)
{
	std::array<std::uint8_t, maxRecord> record;
	std::size_t size = 0;
	for (const iovec &part : parts) {
		const std::size_t length = std::min(part.iov_len, record.size() - size);
		std::copy_n(static_cast<const std::uint8_t *>(part.iov_base), length, record.begin() + size);
		size += length;
	}
	ERR_clear_error();
	std::size_t done = 0;
	if (SSL_write_ex(handshake_.tls(), record.data(), size, &done) == 1)
		return static_cast<ssize_t>(done);
	errno = errnoOf(SSL_get_error(handshake_.tls(), 0));
	ERR_clear_error();
	return -1;
}

} // namespace cdc
