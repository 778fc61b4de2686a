// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tls_proxy.h"

#include "libctl/keys/tls_keyring.h"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <memory>
#include <openssl/ssl.h>
#include <poll.h>
#include <stdexcept>
#include <sys/socket.h>
#include <unistd.h>

namespace guest {
namespace {

constexpr int pollMs = 20;
constexpr std::size_t relayBytes = 16384;

sockaddr_in loopback(unsigned port)
{
	sockaddr_in at{};
	at.sin_family = AF_INET;
	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	at.sin_port = htons(static_cast<std::uint16_t>(port));
	return at;
}

int connectTo(unsigned port)
{
	const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	const auto at = loopback(port);
	if (::connect(fd, reinterpret_cast<const sockaddr *>(&at), sizeof(at))) {
		::close(fd);
		return -1;
	}
	return fd;
}

// The key that the host names, from the keyring of this machine; with TlsAct::otherSecret a wrong one
int findPsk(SSL *ssl, const unsigned char *identity, std::size_t length, SSL_SESSION **session)
{
	auto keyring = nofctl::TlsKeyring::open();
	if (!keyring)
		return 0;
	auto key = keyring->find(std::string(reinterpret_cast<const char *>(identity), length));
	if (!key)
		return 0;
	auto secret = keyring->read(*key);
	if (!secret)
		return 0;
	if (SSL_get_app_data(ssl))
		secret->data()[0] ^= 1;
	const std::array<unsigned char, 2> suite{
		0x13, static_cast<unsigned char>(key->identity.hash == nofctl::KeyHash::sha384 ? 0x02 : 0x01)};
	SSL_SESSION *psk = SSL_SESSION_new();
	SSL_SESSION_set1_master_key(psk, secret->data(), secret->size());
	SSL_SESSION_set_cipher(psk, SSL_CIPHER_find(ssl, suite.data()));
	SSL_SESSION_set_protocol_version(psk, TLS1_3_VERSION);
	*session = psk;
	return 1;
}

using Context = std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)>;
using Tls = std::unique_ptr<SSL, decltype(&SSL_free)>;

Context newContext(bool oldVersion)
{
	Context context(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
	SSL_CTX_set_psk_find_session_callback(context.get(), findPsk);
	SSL_CTX_set_num_tickets(context.get(), 0);
	SSL_CTX_set_min_proto_version(context.get(), oldVersion ? TLS1_2_VERSION : TLS1_3_VERSION);
	SSL_CTX_set_max_proto_version(context.get(), oldVersion ? TLS1_2_VERSION : TLS1_3_VERSION);
	SSL_CTX_set_mode(context.get(), SSL_MODE_AUTO_RETRY);
	return context;
}

bool sendAll(int fd, const void *data, std::size_t size)
{
	const auto *from = static_cast<const char *>(data);
	while (size) {
		const auto n = ::send(fd, from, size, MSG_NOSIGNAL);
		if (n <= 0)
			return false;
		from += n;
		size -= static_cast<std::size_t>(n);
	}
	return true;
}

// A record: its header as given, and @have bytes of payload
void sendRecord(int fd, std::uint8_t type, std::uint16_t version, std::uint16_t length, std::size_t have)
{
	std::vector<unsigned char> record(5 + have, 0x5a);
	record[0] = type;
	record[1] = static_cast<unsigned char>(version >> 8);
	record[2] = static_cast<unsigned char>(version);
	record[3] = static_cast<unsigned char>(length >> 8);
	record[4] = static_cast<unsigned char>(length);
	sendAll(fd, record.data(), record.size());
}

// Returns false if the connection cannot be used any more.
bool misbehave(SSL *ssl, TlsAct act)
{
	constexpr std::uint16_t tls12 = 0x0303; // also in the records of TLS 1.3
	const int fd = SSL_get_fd(ssl);

	switch (act) {
	case TlsAct::closeNotify:
		SSL_shutdown(ssl);
		return true;
	case TlsAct::keyUpdate:
		SSL_key_update(ssl, SSL_KEY_UPDATE_NOT_REQUESTED);
		return SSL_do_handshake(ssl) == 1;
	case TlsAct::tickets:
		for (int i = 0; i < 64; i++) {
			SSL_new_session_ticket(ssl);
			if (SSL_do_handshake(ssl) != 1)
				return false;
		}
		return true;
	case TlsAct::damaged:
		sendRecord(fd, 23, tls12, 64, 64);
		return true;
	case TlsAct::oversized:
		sendRecord(fd, 23, tls12, 0xffff, 1024);
		return true;
	case TlsAct::alert: {
		constexpr std::array<unsigned char, 5> tooLong{23, 3, 3, 0xff, 0xff};
		char byte;
		SSL_set0_rbio(ssl, BIO_new_mem_buf(tooLong.data(), tooLong.size()));
		SSL_read(ssl, &byte, 1); // finds the record, and sends the alert
		return false;
	}
	case TlsAct::unencrypted: {
		constexpr std::array<unsigned char, 7> alert{21, 3, 3, 0, 2, 2, 40};
		sendAll(fd, alert.data(), alert.size());
		return true;
	}
	case TlsAct::truncated:
		sendRecord(fd, 23, tls12, 256, 100);
		return true;
	case TlsAct::wrongVersion:
		sendRecord(fd, 23, 0x0301, 64, 64);
		return true;
	default:
		return true;
	}
}

bool toHost(SSL *ssl, const char *data, std::size_t size, unsigned piece)
{
	while (size) {
		const std::size_t n = piece ? std::min<std::size_t>(piece, size) : size;
		if (SSL_write(ssl, data, static_cast<int>(n)) <= 0)
			return false;
		data += n;
		size -= n;
	}
	return true;
}

} // namespace

TlsProxy::TlsProxy(unsigned port, unsigned target)
	: target_(target), listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0))
{
	const int on = 1;
	const auto at = loopback(port);
	::setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (::bind(listener_, reinterpret_cast<const sockaddr *>(&at), sizeof(at)) || ::listen(listener_, 64))
		throw std::runtime_error("TlsProxy: cannot listen");
	std::signal(SIGPIPE, SIG_IGN); // OpenSSL writes without MSG_NOSIGNAL
	server_ = std::thread([this] { serve(); });
}

TlsProxy::~TlsProxy()
{
	stop_ = true;
	::shutdown(listener_, SHUT_RDWR);
	server_.join();
	for (auto &thread : threads_)
		thread.join();
	::close(listener_);
}

void TlsProxy::serve()
{
	while (!stop_) {
		const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
		if (fd >= 0)
			threads_.emplace_back([this, fd] {
				serveOne(fd);
				::close(fd);
			});
	}
}

void TlsProxy::serveOne(int fd)
{
	const TlsAct atStart = act_;
	auto waitStop = [&] {
		pollfd closed{fd, POLLRDHUP, 0};
		while (!stop_ &&
		       !(::poll(&closed, 1, pollMs) > 0 && closed.revents & (POLLRDHUP | POLLHUP | POLLERR))) {
		}
	};
	switch (atStart) {
	case TlsAct::silent:
		return waitStop();
	case TlsAct::closes:
		return;
	case TlsAct::rubbish:
		sendAll(fd, "HTTP/1.1 400 Bad Request\r\n\r\n", 28);
		return waitStop();
	case TlsAct::plainAlert:
		sendAll(fd, "\x15\x03\x03\x00\x02\x02\x28", 7);
		return waitStop();
	default:
		break;
	}
	const Context context = newContext(atStart == TlsAct::oldVersion);
	const Tls tls(SSL_new(context.get()), SSL_free);
	SSL *ssl = tls.get();
	timeval patience{30, 0};
	::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	SSL_set_fd(ssl, fd);
	SSL_set_app_data(ssl, atStart == TlsAct::otherSecret ? this : nullptr);
	if (SSL_accept(ssl) != 1)
		return;
	handshakes_++;
	const int target = connectTo(target_);
	if (target < 0)
		return;
	TlsAct done = atStart;
	std::array<char, relayBytes> data{};
	for (bool open = true; open && !stop_;) {
		std::array<pollfd, 2> ready{pollfd{fd, POLLIN, 0}, pollfd{target, POLLIN, 0}};
		if (!SSL_pending(ssl))
			::poll(ready.data(), ready.size(), pollMs);
		const TlsAct act = act_;
		if (act != done) {
			open = misbehave(ssl, act);
			done = act;
		}
		if (open && (ready[0].revents || SSL_pending(ssl))) {
			const int n = SSL_read(ssl, data.data(), data.size());
			open = n > 0 && sendAll(target, data.data(), static_cast<std::size_t>(n));
		}
		if (open && ready[1].revents) {
			const auto n = ::recv(target, data.data(), data.size(), 0);
			open = n > 0 && (atStart == TlsAct::noEncryption
						 ? sendAll(fd, data.data(), static_cast<std::size_t>(n))
						 : toHost(ssl, data.data(), static_cast<std::size_t>(n), pieces_));
		}
	}
	::close(target);
}

} // namespace guest
