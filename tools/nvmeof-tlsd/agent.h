// SPDX-License-Identifier: LGPL-2.1-or-later
// Runs the handshakes that the kernel asks for, all in one thread: none waits for another one's peer.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <string>

#include "handshake_family.h"
#include "libctl/runtime/journal.h"
#include "libctl/runtime/loop.h"
#include "libctl/runtime/wheel.h"
#include "psk_store.h"
#include "record_keys.h"

namespace tlsd {

struct AgentLimits {
	std::size_t handshakes = 512; // at a time; further ones wait in the kernel, which bounds them, too
	std::size_t asServer = 384;   // of these as a server; the others are for this host's own connections
	std::size_t waiting = 512;    // as a server, taken and not begun; further ones are refused
	std::size_t ofPeer = 256;     // as a server with one address (IPv6: /64), waiting ones included; then refused
	std::chrono::milliseconds usualTimeout{10'000}, longestTimeout{60'000};
	std::chrono::milliseconds silence{1'000}, slow{3'000}; // see Agent::oldestSlow()
};

class Agent {
public:
	using Install = std::function<nvmeof::Result<void>(int socket, const SessionKeys &keys)>;

	// Everything passed must outlive the agent. @debug: log successes, too.
	Agent(runtime::Loop &loop, const TlsContexts &contexts, PskStore &store, HandshakeQueue &queue, Install install,
	      bool debug, const AgentLimits &limits = {});
	~Agent();
	Agent(const Agent &) = delete;
	Agent &operator=(const Agent &) = delete;

	// Takes handshakes from the queue until there are none or too many; goes on by itself when one has ended. Those
	// as a server wait here for their turn, not in the queue, where those of this host's connections would wait
	// behind them.
	void serve();
	// Ends all: the kernel reports EIO to their users.
	void end();
	std::size_t running() const { return running_.size(); }
	std::size_t waiting() const { return waiting_.size(); }

private:
	class Running;
	struct Peer {
		std::string host, name; // numeric address, without and with the port; of IPv6 the host is the /64
	};
	struct Waiting {
		HandshakeRequest request;
		Peer peer;
		std::chrono::steady_clock::time_point since;
	};
	using List = std::list<std::unique_ptr<Running>>;

	static Peer peerOf(int socket);
	bool take(); // one; false: there is none, or it failed and is tried again later
	void add(HandshakeRequest request);
	void start(HandshakeRequest request, Peer peer);
	void startWaiting();
	bool makeRoom(); // for one more as a server
	void refuse(const HandshakeRequest &request, const std::string &peer, int status, const std::string &reason);
	Running *oldestSlow() const;
	std::size_t withPeer(const std::string &host) const;
	void erase(const Running &handshake);
	void report(const HandshakeRequest &request, const std::string &peer, const std::string &identity,
		    const std::string &reason);

	const TlsContexts &contexts_;
	PskStore &store_;
	HandshakeQueue &queue_;
	const Install install_;
	const bool debug_;
	const AgentLimits limits_;
	runtime::LogLimit logLimit_;
	runtime::Poller poller_;
	runtime::Wheel wheel_;
	List running_; // the oldest first
	std::deque<Waiting> waiting_;
	bool ending_ = false;
	bool drained_ = true; // serve() has taken all that were in the queue
	runtime::Timer more_; // goes on, without new handshakes if all were taken
};

} // namespace tlsd
