// SPDX-License-Identifier: LGPL-2.1-or-later
// A target with TLS that misbehaves: it ends TLS, and passes PDUs on to the kernel's target without TLS.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace guest {

// Misbehaviour on each connection: at its handshake, or once, when it is set while the connection is established
enum class TlsAct : std::uint8_t {
	none,
	// at the handshake
	silent,       // no answer to the ClientHello
	closes,       // closes the connection at once
	rubbish,      // answers with text
	oldVersion,   // TLS 1.2 only
	otherSecret,  // same identity, another secret
	plainAlert,   // a fatal alert, without a handshake
	noEncryption, // talks in plain text after the handshake
	// on an established connection
	closeNotify,
	keyUpdate,
	tickets,      // 64 session tickets
	damaged,      // a record whose tag is wrong
	oversized,    // a record longer than the specification permits
	alert,        // the fatal alert record_overflow
	unencrypted,  // an alert in plain text
	truncated,    // half a record, then silence
	wrongVersion, // a record of TLS 1.0
};

class TlsProxy {
public:
	TlsProxy(unsigned port, unsigned target); // of 127.0.0.1
	~TlsProxy();
	TlsProxy(const TlsProxy &) = delete;
	TlsProxy &operator=(const TlsProxy &) = delete;

	void act(TlsAct act) { act_ = act; }
	// Sends records of this many bytes of payload at most; 0: as many as fit
	void pieces(unsigned bytes) { pieces_ = bytes; }
	unsigned handshakes() const { return handshakes_; }

private:
	void serve();
	void serveOne(int fd);

	unsigned target_;
	int listener_;
	std::atomic<TlsAct> act_ = TlsAct::none;
	std::atomic<unsigned> pieces_ = 0, handshakes_ = 0;
	std::atomic<bool> stop_ = false;
	std::vector<std::thread> threads_;
	std::thread server_;
};

} // namespace guest
