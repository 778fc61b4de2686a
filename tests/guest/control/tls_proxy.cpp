// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tls_proxy.h"

#include "libctl/base/hex.h"
#include "libctl/keys/hkdf.h"
#include "libctl/keys/tls_keyring.h"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <csignal>
#include <openssl/evp.h>
#include <poll.h>
#include <stdexcept>
#include <string>
#include <sys/socket.h>
#include <unistd.h>

namespace guest {

using namespace std::chrono_literals;
using nofctl::SecretBytes;

namespace {

constexpr auto pollTime = 20ms;
constexpr std::size_t relayBytes = 16384;
constexpr std::uint16_t tls12 = 0x0303; // in records, also of TLS 1.3
constexpr std::size_t keySize = 16, ivSize = 12, tagSize = 16;

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

bool sendAll(int fd, std::span<const std::uint8_t> bytes)
{
	while (!bytes.empty()) {
		const auto n = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
		if (n <= 0)
			return false;
		bytes = bytes.subspan(static_cast<std::size_t>(n));
	}
	return true;
}

// HKDF-Expand-Label with SHA-256, the hash function of the only cipher suite here
SecretBytes expand(const SecretBytes &secret, const char *label, std::size_t size)
{
	auto made = nofctl::hkdf(nofctl::HkdfMode::expand, nofctl::KeyHash::sha256, secret,
				 nofctl::hkdfLabel(label, "", size), size);
	if (!made)
		throw std::runtime_error(made.error().message);
	return *std::move(made);
}

TlsBytes encrypt(const SecretBytes &key, const TlsBytes &nonce, std::span<const std::uint8_t> header,
		 const TlsBytes &plain)
{
	const std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)> cipher(EVP_CIPHER_CTX_new(),
										     EVP_CIPHER_CTX_free);
	TlsBytes out(plain.size() + tagSize);
	int n = 0;
	if (EVP_EncryptInit_ex(cipher.get(), EVP_aes_128_gcm(), nullptr, key.bytes().data(), nonce.data()) != 1 ||
	    EVP_EncryptUpdate(cipher.get(), nullptr, &n, header.data(), static_cast<int>(header.size())) != 1 ||
	    EVP_EncryptUpdate(cipher.get(), out.data(), &n, plain.data(), static_cast<int>(plain.size())) != 1 ||
	    EVP_EncryptFinal_ex(cipher.get(), out.data() + plain.size(), &n) != 1 ||
	    EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_GET_TAG, tagSize, out.data() + plain.size()) != 1)
		throw std::runtime_error("AES-GCM failed");
	return out;
}

} // namespace

struct TlsPeerCallbacks {
	static TlsPeer &of(const SSL *tls) { return *static_cast<TlsPeer *>(SSL_get_app_data(tls)); }

	// The key that the host names, from the keyring of this machine
	static int findPsk(SSL *tls, const unsigned char *identity, std::size_t length, SSL_SESSION **session)
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
		if (of(tls).otherSecret())
			secret->data()[0] ^= 1;
		const std::array<unsigned char, 2> suite{0x13, 0x01};
		SSL_SESSION *psk = SSL_SESSION_new();
		SSL_SESSION_set1_master_key(psk, secret->data(), secret->size());
		SSL_SESSION_set_cipher(psk, SSL_CIPHER_find(tls, suite.data()));
		SSL_SESSION_set_protocol_version(psk, TLS1_3_VERSION);
		*session = psk;
		return 1;
	}

	static void keyLine(const SSL *tls, const char *line)
	{
		const std::string_view text = line;
		if (!text.starts_with("SERVER_TRAFFIC_SECRET_0 "))
			return;
		const auto hex = text.substr(text.rfind(' ') + 1);
		SecretBytes secret(hex.size() / 2);
		for (std::size_t i = 0; i < secret.size(); i++)
			secret.data()[i] = static_cast<std::uint8_t>(nofctl::hexDigit(hex[2 * i]) << 4 |
								     nofctl::hexDigit(hex[2 * i + 1]));
		of(tls).useSecret(std::move(secret));
	}
};

TlsPeer::TlsPeer(int fd, const std::atomic<bool> &stop)
	: fd_(fd), stop_(stop), context_(SSL_CTX_new(TLS_server_method()), SSL_CTX_free), tls_(nullptr, SSL_free)
{
	const timeval patience{30, 0};
	::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	SSL_CTX_set_psk_find_session_callback(context_.get(), TlsPeerCallbacks::findPsk);
	SSL_CTX_set_keylog_callback(context_.get(), TlsPeerCallbacks::keyLine);
	SSL_CTX_set_num_tickets(context_.get(), 0);
	SSL_CTX_set_ciphersuites(context_.get(), "TLS_AES_128_GCM_SHA256");
	SSL_CTX_set_min_proto_version(context_.get(), TLS1_3_VERSION);
	tls_.reset(SSL_new(context_.get()));
	SSL_set_bio(tls_.get(), BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
	SSL_set_app_data(tls_.get(), this);
	SSL_set_accept_state(tls_.get());
}

TlsBytes TlsPeer::sealed(std::uint8_t type, std::span<const std::uint8_t> content, std::size_t padding)
{
	TlsBytes plain(content.begin(), content.end());
	plain.push_back(type);
	plain.resize(plain.size() + padding);
	const std::size_t length = plain.size() + tagSize;
	const TlsBytes header{tls_wire::data, tls12 >> 8, tls12 & 0xff, static_cast<std::uint8_t>(length >> 8),
			      static_cast<std::uint8_t>(length)};
	TlsBytes nonce(iv_.bytes().begin(), iv_.bytes().end());
	for (std::size_t i = 0; i < sizeof(number_); i++)
		nonce[ivSize - 1 - i] ^= static_cast<std::uint8_t>(number_ >> (8 * i));
	number_++;
	TlsBytes record = header;
	const TlsBytes body = encrypt(key_, nonce, header, plain);
	record.insert(record.end(), body.begin(), body.end());
	return record;
}

void TlsPeer::record(std::uint8_t type, std::span<const std::uint8_t> content, std::size_t padding)
{
	raw(sealed(type, content, padding));
}

void TlsPeer::alert(std::uint8_t level, std::uint8_t description)
{
	record(tls_wire::alert, TlsBytes{level, description});
}

void TlsPeer::message(std::uint8_t type, std::size_t length)
{
	TlsBytes bytes{type, 0, static_cast<std::uint8_t>(length >> 8), static_cast<std::uint8_t>(length)};
	bytes.resize(bytes.size() + length);
	record(tls_wire::handshake, bytes);
}

void TlsPeer::useSecret(SecretBytes secret)
{
	secret_ = std::move(secret);
	key_ = expand(secret_, "key", keySize);
	iv_ = expand(secret_, "iv", ivSize);
	number_ = 0;
}

void TlsPeer::nextKeys()
{
	useSecret(expand(secret_, "traffic upd", nofctl::hashSize(nofctl::KeyHash::sha256)));
}

void TlsPeer::raw(std::span<const std::uint8_t> bytes)
{
	if (!muted_ && !ended_ && !sendAll(fd_, bytes))
		ended_ = true;
}

void TlsPeer::raw(std::string_view text)
{
	raw(TlsBytes(text.begin(), text.end()));
}

void TlsPeer::crawl(std::span<const std::uint8_t> bytes, std::chrono::milliseconds pause)
{
	for (; !bytes.empty() && !ended_ && !stop_; bytes = bytes.subspan(1)) {
		raw(bytes.first(1));
		if (waits(POLLRDHUP, pause))
			ended_ = true;
	}
}

void TlsPeer::close()
{
	::shutdown(fd_, SHUT_WR);
	ended_ = true;
}

void TlsPeer::reset()
{
	const linger hard{1, 0};
	::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
	ended_ = reset_ = true;
}

bool TlsPeer::waits(int events, std::chrono::milliseconds time) const
{
	pollfd ready{fd_, static_cast<short>(events), 0};
	return ::poll(&ready, 1, static_cast<int>(time.count())) > 0;
}

void TlsPeer::waitClosed() const
{
	while (!reset_ && !stop_ && !waits(POLLRDHUP, pollTime)) {
	}
}

bool TlsPeer::receive(int alsoFd)
{
	std::array<pollfd, 2> ready{pollfd{fd_, POLLIN, 0}, pollfd{alsoFd, POLLIN, 0}};
	::poll(ready.data(), ready.size(), static_cast<int>(pollTime.count()));
	if (!ready[0].revents)
		return true;
	std::array<std::uint8_t, relayBytes> bytes{};
	const auto n = ::recv(fd_, bytes.data(), bytes.size(), MSG_DONTWAIT);
	if (n <= 0)
		return false;
	BIO_write(SSL_get_rbio(tls_.get()), bytes.data(), static_cast<int>(n));
	return true;
}

TlsBytes TlsPeer::output()
{
	BIO *bio = SSL_get_wbio(tls_.get());
	TlsBytes bytes(BIO_ctrl_pending(bio));
	if (!bytes.empty())
		BIO_read(bio, bytes.data(), static_cast<int>(bytes.size()));
	return bytes;
}

TlsProxy::TlsProxy(unsigned port, unsigned target)
	: target_(target), listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0))
{
	const int on = 1;
	const auto at = loopback(port);
	::setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (::bind(listener_, reinterpret_cast<const sockaddr *>(&at), sizeof(at)) || ::listen(listener_, 64))
		throw std::runtime_error("TlsProxy: cannot listen");
	std::signal(SIGPIPE, SIG_IGN);
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

void TlsProxy::strike(const TlsMisbehaviour &what, TlsPeer &peer, TlsBytes &bytes)
{
	strikes_++;
	what.act(peer, bytes);
}

void TlsProxy::serveOne(int fd)
{
	const TlsMisbehaviour *armed = armed_;
	TlsPeer peer(fd, stop_);
	TlsBytes none;
	if (armed && armed->hook == TlsHook::accepted) {
		strike(*armed, peer, none);
		return peer.waitClosed();
	}
	if (armed && armed->hook == TlsHook::settings)
		strike(*armed, peer, none);
	if (!handshake(peer, armed))
		return peer.waitClosed();
	handshakes_++;
	const int target = connectTo(target_);
	if (target < 0)
		return;
	relay(peer, target, armed);
	::close(target);
	if (peer.ended())
		peer.waitClosed();
}

bool TlsProxy::handshake(TlsPeer &peer, const TlsMisbehaviour *armed)
{
	bool struck = false;
	while (!stop_) {
		const int result = SSL_accept(peer.tls());
		const int error = result == 1 ? SSL_ERROR_NONE : SSL_get_error(peer.tls(), result);
		TlsBytes flight = peer.output();
		if (!flight.empty() && armed && armed->hook == TlsHook::answer && !struck) {
			strike(*armed, peer, flight);
			struck = true;
		}
		peer.raw(flight);
		if (result == 1)
			return true;
		if (peer.ended() || error != SSL_ERROR_WANT_READ || !peer.receive())
			return false;
	}
	return false;
}

// Returns false if the target has ended the connection.
bool TlsProxy::toHost(TlsPeer &peer, int target, const TlsMisbehaviour *armed)
{
	TlsBytes bytes(relayBytes);
	const auto n = ::recv(target, bytes.data(), bytes.size(), MSG_DONTWAIT);
	if (n <= 0)
		return n < 0 && errno == EAGAIN;
	bytes.resize(static_cast<std::size_t>(n));
	if (armed && armed->hook == TlsHook::pdus) {
		strike(*armed, peer, bytes);
		return true;
	}
	const std::size_t most = pieces_ ? pieces_.load() : bytes.size();
	for (std::span<const std::uint8_t> left = bytes; !left.empty();) {
		peer.data(left.first(std::min(most, left.size())));
		left = left.subspan(std::min(most, left.size()));
	}
	return true;
}

void TlsProxy::relay(TlsPeer &peer, int target, const TlsMisbehaviour *armed)
{
	const TlsMisbehaviour *last = armed;
	TlsBytes bytes(relayBytes), none;
	bool first = true, open = true; // first: it is still the one that was armed when the connection was made
	while (open && !peer.ended() && !stop_) {
		int n = 0;
		while (open && (n = SSL_read(peer.tls(), bytes.data(), static_cast<int>(bytes.size()))) > 0)
			open = sendAll(target, std::span(bytes).first(static_cast<std::size_t>(n)));
		const TlsMisbehaviour *now = armed_;
		first &= now == armed;
		if (now && now != last && now->hook == TlsHook::live)
			strike(*now, peer, none);
		last = now;
		const bool spared = first && now && now->outcome == TlsOutcome::reset;
		open = open && toHost(peer, target, spared ? nullptr : now) && peer.receive(target);
	}
}

} // namespace guest
