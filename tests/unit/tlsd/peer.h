// SPDX-License-Identifier: LGPL-2.1-or-later
// What tests of handshakes need: keys in memory, sockets, and a peer that is OpenSSL without the code under test.
#pragma once

#include <cstring>
#include <fcntl.h>
#include <map>
#include <memory>
#include <string>
#include <sys/socket.h>
#include <vector>

#include <catch2/catch.hpp>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include "libctl/base/epoll.h"
#include "psk_store.h"
#include "record_keys.h"

namespace tlsd_test {

using namespace tlsd;
using nofctl::KeyHash;
using nofctl::KeySerial;
using nofctl::OwnedFd;
using nofctl::SecretBytes;
using nvmeof::Result;

inline const std::string nqns = "nqn.2014-08.org.example:host nqn.2014-08.org.example:subsystem";
inline const std::vector<std::string> identities = {"NVMe0R01 " + nqns, "NVMe0R02 " + nqns,
						    "NVMe1R01 " + nqns + " abc=", "NVMe1R02 " + nqns + " abc="};

inline SecretBytes secretOf(std::size_t size, std::uint8_t first = 1)
{
	SecretBytes secret(size);
	for (std::size_t i = 0; i < size; i++)
		secret.data()[i] = static_cast<std::uint8_t>(first + i);
	return secret;
}

// The number of a key is its place in identities, from 1 on.
class MemoryStore : public PskStore {
public:
	void add(const std::string &identity, std::uint8_t first = 1)
	{
		firsts_[identity] = first;
		serials_.push_back(identity);
	}
	Result<Psk> read(KeySerial serial, KeySerial) override
	{
		if (serial < 1 || static_cast<std::size_t>(serial) > serials_.size())
			return nvmeof::errorFromErrno(status, "there is no such key");
		return made(serials_[static_cast<std::size_t>(serial) - 1], serial);
	}
	Result<Psk> find(std::string_view identity, KeySerial) override
	{
		searches++;
		for (std::size_t i = 0; i < serials_.size(); i++)
			if (serials_[i] == identity)
				return made(serials_[i], static_cast<KeySerial>(i + 1));
		return nvmeof::errorFromErrno(ENOKEY, "no such key");
	}

	int status = ENOKEY; // of keys that are not there
	int searches = 0;

private:
	Result<Psk> made(const std::string &identity, KeySerial serial)
	{
		const KeyHash hash = *hashOfIdentity(identity);
		return Psk{serial, identity, hash, secretOf(nofctl::hashSize(hash), firsts_[identity])};
	}

	std::map<std::string, std::uint8_t> firsts_;
	std::vector<std::string> serials_;
};

struct Pair {
	Pair()
	{
		int fds[2];
		REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
		one = OwnedFd(fds[0]);
		other = OwnedFd(fds[1]);
	}
	OwnedFd one, other;
};

inline std::string receiveAll(int fd)
{
	std::string all(1 << 17, '\0');
	const ssize_t n = ::recv(fd, all.data(), all.size(), MSG_DONTWAIT);
	all.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
	return all;
}

inline void sendAll(int fd, const std::string &bytes)
{
	REQUIRE(::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size()));
}

inline const TlsContexts &contexts()
{
	static const Result<TlsContexts> made = TlsContexts::create();
	REQUIRE(made);
	return const_cast<Result<TlsContexts> &>(made).value();
}

// OpenSSL at the other end of a socket, with its own records
class OpensslPeer {
public:
	OpensslPeer(TlsRole role, int fd)
		: role_(role),
		  context_(SSL_CTX_new(role == TlsRole::client ? TLS_client_method() : TLS_server_method())), fd_(fd)
	{
		::fcntl(fd, F_SETFL, O_NONBLOCK); // OpenSSL reads without MSG_DONTWAIT
		SSL_CTX_set_psk_use_session_callback(context(), [](SSL *tls, const EVP_MD *, const unsigned char **id,
								   std::size_t *size, SSL_SESSION **session) {
			OpensslPeer &self = *static_cast<OpensslPeer *>(SSL_get_app_data(tls));
			if (self.identity.empty())
				return 1;
			*id = reinterpret_cast<const unsigned char *>(self.identity.data());
			*size = self.identity.size();
			*session = self.session(tls);
			return 1;
		});
		SSL_CTX_set_psk_find_session_callback(
			context(), [](SSL *tls, const unsigned char *id, std::size_t size, SSL_SESSION **session) {
				OpensslPeer &self = *static_cast<OpensslPeer *>(SSL_get_app_data(tls));
				*session = self.identity == std::string(reinterpret_cast<const char *>(id), size)
						   ? self.session(tls)
						   : nullptr;
				return 1;
			});
	}

	SSL_CTX *context() { return context_.get(); }

	void useCertificate()
	{
		EVP_PKEY *key = EVP_EC_gen("P-256");
		X509 *certificate = X509_new();
		ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
		X509_gmtime_adj(X509_getm_notBefore(certificate), 0);
		X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
		X509_set_pubkey(certificate, key);
		X509_NAME *name = X509_get_subject_name(certificate);
		X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char *>("peer"),
					   -1, -1, 0);
		X509_set_issuer_name(certificate, name);
		REQUIRE(X509_sign(certificate, key, EVP_sha256()) > 0);
		REQUIRE(SSL_CTX_use_certificate(context(), certificate) == 1);
		REQUIRE(SSL_CTX_use_PrivateKey(context(), key) == 1);
		X509_free(certificate);
		EVP_PKEY_free(key);
	}

	// True: the handshake is done.
	bool advance()
	{
		if (failed)
			return false;
		ERR_clear_error();
		const int result = SSL_do_handshake(tls());
		const int error = SSL_get_error(tls(), result);
		failed = result != 1 && error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE;
		if (failed)
			reason = ERR_GET_REASON(ERR_peek_error());
		ERR_clear_error();
		return result == 1;
	}

	SSL *tls()
	{
		if (!tls_) {
			tls_.reset(SSL_new(context()));
			SSL_set_app_data(tls_.get(), this);
			SSL_set_fd(tls_.get(), fd_);
			role_ == TlsRole::client ? SSL_set_connect_state(tls_.get()) : SSL_set_accept_state(tls_.get());
		}
		return tls_.get();
	}

	std::string identity; // empty: no key
	std::uint8_t first = 1;
	bool failed = false;
	int reason = 0;

private:
	struct Free {
		void operator()(SSL_CTX *context) const { SSL_CTX_free(context); }
		void operator()(SSL *tls) const { SSL_free(tls); }
	};

	SSL_SESSION *session(SSL *tls)
	{
		const bool sha384 = hashOfIdentity(identity) == KeyHash::sha384;
		const unsigned char suite[] = {0x13, static_cast<unsigned char>(sha384 ? 2 : 1)};
		const SecretBytes secret = secretOf(sha384 ? 48 : 32, first);
		SSL_SESSION *session = SSL_SESSION_new();
		SSL_SESSION_set1_master_key(session, secret.bytes().data(), secret.size());
		SSL_SESSION_set_cipher(session, SSL_CIPHER_find(tls, suite));
		SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION);
		return session;
	}

	const TlsRole role_;
	const std::unique_ptr<SSL_CTX, Free> context_;
	const int fd_;
	std::unique_ptr<SSL, Free> tls_;
};

} // namespace tlsd_test
