// SPDX-License-Identifier: LGPL-2.1-or-later
// A target with TLS that misbehaves: it ends TLS, and passes PDUs on to the kernel's target without TLS.
#pragma once

#include "libctl/keys/secret.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <openssl/ssl.h>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

namespace guest {

using TlsBytes = std::vector<std::uint8_t>;

// Record types, handshake messages and alerts (RFC 8446, B.1, B.3 and B.2)
namespace tls_wire {
enum Record : std::uint8_t { changeCipherSpec = 20, alert, handshake, data, heartbeat };
enum Message : std::uint8_t {
	clientHello = 1,
	serverHello,
	sessionTicket = 4,
	certificateRequest = 13,
	finished = 20,
	keyUpdate = 24,
};
enum AlertLevel : std::uint8_t { warning = 1, fatal };
} // namespace tls_wire

// The target's end of one connection. Its thread alone uses it.
class TlsPeer {
public:
	TlsPeer(int fd, const std::atomic<bool> &stop);
	TlsPeer(const TlsPeer &) = delete;
	TlsPeer &operator=(const TlsPeer &) = delete;

	// After the handshake: a record with the next number, encrypted. @padding: zeroes behind the type
	TlsBytes sealed(std::uint8_t type, std::span<const std::uint8_t> content, std::size_t padding = 0);
	void record(std::uint8_t type, std::span<const std::uint8_t> content, std::size_t padding = 0);
	void data(std::span<const std::uint8_t> bytes) { record(tls_wire::data, bytes); }
	void alert(std::uint8_t level, std::uint8_t description);
	// A handshake message after the handshake, with a body of zeroes
	void message(std::uint8_t type, std::size_t length);
	void skipNumber() { number_++; }
	void nextKeys(); // those that follow a KeyUpdate (RFC 8446, 7.2)

	// Bytes as they are
	void raw(std::span<const std::uint8_t> bytes);
	void raw(std::string_view text);
	void crawl(std::span<const std::uint8_t> bytes, std::chrono::milliseconds pause); // byte by byte
	void close();                                                                     // FIN
	void reset();                                                                     // RST
	void mute() { muted_ = true; }                                                    // sends nothing from now on
	bool ended() const { return ended_; }

	SSL *tls() { return tls_.get(); } // of which a misbehaviour may change settings before the handshake
	void useOtherSecret() { otherSecret_ = true; }
	bool otherSecret() const { return otherSecret_; }

private:
	friend class TlsProxy;
	friend struct TlsPeerCallbacks;

	void useSecret(nofctl::SecretBytes secret);
	// Waits for bytes of the host, and gives them to OpenSSL. False: the connection has ended.
	bool receive(int alsoFd = -1);
	bool waits(int events, std::chrono::milliseconds time) const;
	void waitClosed() const;
	TlsBytes output(); // what OpenSSL has to send

	int fd_;
	const std::atomic<bool> &stop_;
	std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_;
	std::unique_ptr<SSL, decltype(&SSL_free)> tls_;
	nofctl::SecretBytes secret_, key_, iv_; // of the records to the host
	std::uint64_t number_ = 0;
	bool otherSecret_ = false, muted_ = false, ended_ = false, reset_ = false;
};

// Where it acts, and on which bytes
enum class TlsHook {
	accepted, // instead of a handshake; none
	settings, // before the handshake; none
	answer,   // the target's first flight, about to be sent
	live,     // once on each established connection; none
	pdus,     // what the kernel's target sends. The misbehaviour sends it in its own way.
};

enum class TlsOutcome {
	refused,  // the connect fails, with these words in its message
	reset,    // the connection is made again, for that reason, and no I/O fails
	silence,  // as reset, after the keep-alive timeout
	harmless, // nothing
};

struct TlsMisbehaviour {
	const char *name;
	TlsHook hook;
	TlsOutcome outcome;
	const char *words;
	void (*act)(TlsPeer &peer, TlsBytes &bytes);
};

std::span<const TlsMisbehaviour> tlsMisbehaviours();

class TlsProxy {
public:
	TlsProxy(unsigned port, unsigned target); // of 127.0.0.1
	~TlsProxy();
	TlsProxy(const TlsProxy &) = delete;
	TlsProxy &operator=(const TlsProxy &) = delete;

	// Concerns connections that are made from now on, and with the hooks live and pdus those that are established.
	// With these hooks, a misbehaviour that leads to a reset concerns the latter alone.
	void arm(const TlsMisbehaviour &what) { armed_ = &what; }
	void disarm() { armed_ = nullptr; }
	unsigned strikes() const { return strikes_; }
	// Sends records of this many bytes of payload at most; 0: as many as fit
	void pieces(unsigned bytes) { pieces_ = bytes; }
	unsigned handshakes() const { return handshakes_; }

private:
	void serve();
	void serveOne(int fd);
	void strike(const TlsMisbehaviour &what, TlsPeer &peer, TlsBytes &bytes);
	bool handshake(TlsPeer &peer, const TlsMisbehaviour *armed);
	void relay(TlsPeer &peer, int target, const TlsMisbehaviour *armed);
	bool toHost(TlsPeer &peer, int target, const TlsMisbehaviour *armed);

	unsigned target_;
	int listener_;
	std::atomic<const TlsMisbehaviour *> armed_ = nullptr;
	std::atomic<unsigned> pieces_ = 0, handshakes_ = 0, strikes_ = 0;
	std::atomic<bool> stop_ = false;
	std::vector<std::thread> threads_;
	std::thread server_;
};

} // namespace guest
