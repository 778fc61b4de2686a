// SPDX-License-Identifier: LGPL-2.1-or-later
#include "check.h"

#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <netinet/in.h>
#include <optional>
#include <sys/socket.h>

#include <openssl/crypto.h>

#include "handshake_family.h"
#include "libctl/base/epoll.h"
#include "psk_store.h"
#include "record_keys.h"

namespace tlsd {

using nofctl::OwnedFd;
using nvmeof::Result;
using Kind = Finding::Kind;

namespace {

Finding checkOpenssl()
{
	const Result<TlsContexts> contexts = TlsContexts::create();
	if (!contexts)
		return {Kind::missing, contexts.error().message};
	return {Kind::ok, std::string(OpenSSL_version(OPENSSL_VERSION)) + " has TLS 1.3"};
}

std::vector<Finding> checkFamily()
{
	Result<HandshakeFamily> family = HandshakeFamily::open();
	if (!family)
		return {{Kind::missing, family.error().message}};
	std::vector<Finding> findings{{Kind::ok, "the kernel passes handshakes to an agent"}};
	if (const Result<void> rights = family->checkRights(); !rights)
		findings.push_back({Kind::missing, rights.error().message});
	findings.push_back({Kind::ok, family->otherAgent()
					      ? "an agent is running: nvmeof-tlsd or tlshd, see 'systemctl status "
						"nvmeof-tlsd tlshd'"
					      : "no agent is running; 'systemctl start nvmeof-tlsd' starts this one"});
	return findings;
}

Finding checkKeyring()
{
	Result<KeyringPskStore> store = KeyringPskStore::open();
	if (!store)
		return {Kind::missing, store.error().message};
	if (!store->nvmeKeyring())
		return {Kind::missing,
			"there is no keyring .nvme, or it belongs to another user; as root, 'modprobe nvme-keyring' "
			"makes it (CONFIG_NVME_KEYRING)"};
	return {Kind::ok, "the keyring .nvme is there"};
}

// Both ends of a TCP connection of this machine
std::optional<std::pair<OwnedFd, OwnedFd>> connection()
{
	sockaddr_in address{};
	address.sin_family = AF_INET;
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	socklen_t size = sizeof(address);
	auto *any = reinterpret_cast<sockaddr *>(&address);
	const OwnedFd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
	OwnedFd one(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
	if (::bind(listener.get(), any, size) < 0 || ::listen(listener.get(), 1) < 0 ||
	    ::getsockname(listener.get(), any, &size) < 0 || ::connect(one.get(), any, size) < 0)
		return std::nullopt;
	OwnedFd other(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
	if (other.get() < 0)
		return std::nullopt;
	return std::pair(std::move(one), std::move(other));
}

Finding checkCipher(RecordCipher cipher, nofctl::KeyHash hash)
{
	const auto sockets = connection();
	if (!sockets)
		return {Kind::missing, std::string("cannot connect to 127.0.0.1: ") + std::strerror(errno) +
					       "; is the interface lo up?"};
	const nofctl::SecretBytes secret(nofctl::hashSize(hash));
	Result<RecordKeys> send = RecordKeys::derive(cipher, hash, secret);
	Result<RecordKeys> receive = RecordKeys::derive(cipher, hash, secret);
	if (!send || !receive)
		return {Kind::missing, (send ? receive : send).error().message};
	const Result<void> installed =
		installKeys(sockets->first.get(), {cipher, *std::move(send), *std::move(receive)});
	const std::string name = toString(cipher);
	if (!installed)
		return {Kind::missing, name + ": " + installed.error().message};
	return {Kind::ok, "the kernel encrypts with " + name};
}

} // namespace

std::vector<Finding> checkMachine()
{
	std::vector<Finding> findings = checkFamily();
	findings.push_back(checkKeyring());
	findings.push_back(checkOpenssl());
	findings.push_back(checkCipher(RecordCipher::aes128Gcm, nofctl::KeyHash::sha256));
	findings.push_back(checkCipher(RecordCipher::aes256Gcm, nofctl::KeyHash::sha384));
	// Only used if a peer prefers it: the kernel need not have it.
	Finding chacha = checkCipher(RecordCipher::chacha20Poly1305, nofctl::KeyHash::sha256);
	if (chacha.kind == Kind::missing)
		chacha = {Kind::note, chacha.text + " (not needed: peers that prefer it are rare)"};
	findings.push_back(chacha);
	return findings;
}

} // namespace tlsd
