// SPDX-License-Identifier: LGPL-2.1-or-later
// A target: listens, and gives each connection a thread.
#pragma once

#include "fd.h"
#include "identify.h"
#include "script.h"
#include "subsystem.h"

#include <atomic>
#include <list>
#include <thread>

namespace target {

class Listener;
class MutatedStream;

// What was seen, since the server was made. Times and counts are the host's doing, so a test can judge it by them.
struct Counters {
	std::atomic<std::uint64_t> connections{0};   // accepted
	std::atomic<std::uint64_t> adminConnects{0}; // Connect commands for queue 0 that were accepted
	std::atomic<std::uint64_t> ioConnects{0};
	std::atomic<std::uint64_t> open{0};  // connections open now
	std::atomic<std::uint64_t> terms{0}; // H2CTermReq received
	std::atomic<std::uint64_t> reads{0}, writes{0}, flushes{0}, zeroes{0}, discards{0}, fua{0};
	std::atomic<std::uint64_t> keepAlives{0}, aborts{0}, asyncEvents{0}, shutdowns{0};
	std::atomic<std::uint64_t> digestErrors{0}; // in what the host has sent
	std::atomic<std::uint64_t> maxInflight{0};  // most commands seen outstanding on one I/O queue
	std::atomic<std::uint64_t> inCapsuleWrites{0}, r2ts{0};
	std::atomic<std::uint64_t> remoteReads{0}; // of data of the host's memory, over RDMA
	std::atomic<std::uint64_t> crossResets{0}; // commands
	std::atomic<std::uint64_t> errorLogs{0};   // read
	std::atomic<std::uint64_t> conflicts{0};   // commands answered with a reservation conflict
	std::atomic<std::uint64_t> deallocated{0}; // Write Zeroes that may deallocate
	std::atomic<std::uint64_t> anaRefusals{0}; // I/O commands answered with an ANA status
	std::atomic<std::uint64_t> discoveryConnects{0}, discoveryReads{0};
};

// What becomes of a Cross-Controller Reset
struct CcrPlan {
	std::chrono::milliseconds delay{0}; // 0: done at once, and the completion says so
	bool succeeds = true;
	bool notice = true; // an event tells that it has come to its end; else only the log does
};

// A port of a subsystem. Ports that share a Subsystem have the same NQN; the rest of their Config may differ.
class Server {
public:
	explicit Server(Config config = {}, std::shared_ptr<Subsystem> subsystem = std::make_shared<Subsystem>());
	~Server();
	Server(const Server &) = delete;
	Server &operator=(const Server &) = delete;

	std::uint16_t port() const { return port_; }
	const Config &config() const { return config_; }
	Script &script() { return script_; }
	Subsystem &subsystem() { return *subsystem_; }
	const std::shared_ptr<Subsystem> &shared() const { return subsystem_; }
	Stores &stores() const { return view_ ? *view_.load() : subsystem_->stores(); }
	// Other namespaces than the subsystem's from now on, which outlive it; null: those again
	void show(Stores *other) { view_ = other; }
	Counters &counters() { return counters_; }
	Associations &associations() { return subsystem_->associations(); }

	// Listening on the same port again after stop(); stop() also ends all connections.
	void start();
	void stop();
	// Ends all connections; rst: with a reset instead of FIN. Listening goes on.
	void dropConnections(bool rst = false);
	// While set, I/O connections are not read, so that data piles up in the sockets.
	void stallReads(bool on);
	bool readsStalled() const { return stalled_; }
	// While set, nothing is read and nothing said on any connection, and ends of connections are not seen: as
	// behind a network that loses everything. Connections are accepted.
	void silence(bool on);
	bool silent() const { return silent_; }
	// Bytes in the receive queues of the I/O connections.
	std::uint64_t unreadBytes() const;
	// Each I/O command is answered no sooner than this.
	void setLatency(std::chrono::microseconds latency) { latency_ = latency.count(); }
	std::chrono::microseconds latency() const { return std::chrono::microseconds(latency_.load()); }
	// I/O queues a Set Features grants from now on.
	void setMaxIoQueues(std::uint16_t queues) { maxIoQueues_ = queues; }
	std::uint16_t maxIoQueues() const { return maxIoQueues_; }
	// Answers the commands that Verdict::hold has kept.
	void releaseHeld();
	void sendEvent(AsyncEvent event);
	void namespacesChanged();
	// The ANA log as it is returned, right or wrong, header included; empty: it tells the states.
	void setAnaLog(Bytes log);
	// States from now on; in one that is not usable I/O commands are refused. tell: with an event
	void setAnaState(std::uint32_t group, AnaState state, bool tell = true);
	void setAnaStates(AnaStates states, bool tell = true);
	AnaState anaState(std::uint32_t group) const;
	Bytes anaLog(bool groupsOnly) const;
	void setCcr(CcrPlan plan);
	CcrPlan ccr() const;

	// Where connections from now on get what changes their PDUs at random; mutator.h. alone: no other is open
	using Mutate = std::function<std::unique_ptr<MutatedStream>(bool alone)>;
	void mutate(Mutate mutate);
	std::unique_ptr<MutatedStream> mutatedStream() const;

	// A breach of the protocol by the host. Tests want none.
	void violation(std::string text);
	std::vector<std::string> violations() const;

private:
	void accept();
	void serve(std::shared_ptr<Connection> conn);
	void reap();
	void forEach(const std::function<void(Connection &)> &fn) const;

	const Config config_;
	Script script_;
	std::shared_ptr<Subsystem> subsystem_;
	std::atomic<Stores *> view_{nullptr};
	Counters counters_;
	std::unique_ptr<Listener> listener_;
	Wake wake_;
	std::uint16_t port_ = 0;
	std::atomic<bool> stopping_{false};
	std::atomic<bool> stalled_{false};
	std::atomic<bool> silent_{false};
	std::atomic<std::int64_t> latency_{0};
	std::atomic<std::uint16_t> maxIoQueues_;
	std::jthread acceptor_;

	struct Served;
	mutable std::mutex lock_;
	std::list<Served> served_;
	std::vector<std::string> violations_;
	Bytes anaLog_;
	AnaStates anaStates_;
	std::uint64_t anaChange_ = 1;
	CcrPlan ccr_;
	Mutate mutate_;
};

} // namespace target
