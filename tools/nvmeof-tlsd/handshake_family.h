// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The kernel's generic netlink family "handshake", by which it passes connected sockets to a TLS handshake agent and
 * gets them back (Documentation/networking/tls-handshake.rst of the kernel). It belongs to one network namespace: an
 * agent serves the one that it runs in.
 */
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <nvmeof/result.h>

#include "libctl/base/epoll.h"
#include "libctl/keys/keyring.h"
#include "psk_store.h"

struct nl_msg;
struct nl_sock;

namespace tlsd {

enum class AuthMode { none, psk, x509 };

// A handshake that the kernel asks for
struct HandshakeRequest {
	nofctl::OwnedFd socket;
	TlsRole role = TlsRole::client;
	AuthMode auth = AuthMode::none;
	std::chrono::milliseconds timeout{0}; // 0: not given
	std::vector<nofctl::KeySerial> keys;  // of a client, in the order of preference
	nofctl::KeySerial keyring = 0;        // 0: not given
	std::string peerName;                 // empty: not given

	// Of the attributes of an ACCEPT message; @socket stays empty. Errors: failed.
	static nvmeof::Result<HandshakeRequest> parse(std::span<const std::byte> attributes);
};

// The descriptor in the attributes of an ACCEPT message, which belongs to this process then. Nothing: the message is
// malformed.
std::optional<int> acceptedSocket(std::span<const std::byte> attributes);

// Whether the text of /proc/net/netlink has a generic netlink socket in multicast group @group whose port is none of
// @own. False for groups above 32, which the file does not show.
bool listenedBy(const std::string &netlinkSockets, unsigned group, const std::vector<std::uint32_t> &own);

// Where handshakes come from
class HandshakeQueue {
public:
	virtual ~HandshakeQueue() = default;
	// The next handshake that waits; nothing: there is none. Errors: failed; this handshake is lost, and others may
	// wait.
	virtual nvmeof::Result<std::optional<HandshakeRequest>> accept() = 0;
	// Ends a handshake. @status: 0 or a positive errno. @key: the key that was used, 0 after a failure. Errors:
	// failed.
	virtual nvmeof::Result<void> done(int socket, int status, nofctl::KeySerial key) = 0;
};

class HandshakeFamily : public HandshakeQueue {
public:
	// Errors: noModule, if the kernel has no handshake API; failed.
	static nvmeof::Result<HandshakeFamily> open();

	// Errors: notPermitted, if the kernel lets this process take no handshakes.
	nvmeof::Result<void> checkRights();
	// Whether another process has joined the multicast group. False if that cannot be found out.
	bool otherAgent() const;
	// From now on, handshakes wait for this process; before, the kernel refuses them if there is no other agent.
	nvmeof::Result<void> join();
	int fd() const; // readable when handshakes may wait
	// Takes what fd() has.
	void drain();

	nvmeof::Result<std::optional<HandshakeRequest>> accept() override;
	nvmeof::Result<void> done(int socket, int status, nofctl::KeySerial key) override;

private:
	struct Free {
		void operator()(nl_sock *socket) const;
		void operator()(nl_msg *message) const;
	};
	using Message = std::unique_ptr<nl_msg, Free>;

	HandshakeFamily() = default;
	Message message(std::uint8_t command) const; // throws std::bad_alloc
	// Sends a request and receives its answer: nothing, if that is an acknowledgement only.
	nvmeof::Result<std::optional<std::vector<std::byte>>> exchange(const Message &message);

	std::unique_ptr<nl_sock, Free> requests_, events_;
	std::uint16_t family_ = 0;
	int group_ = 0; // multicast group of agents
	std::uint32_t sequence_ = 0;
};

} // namespace tlsd
