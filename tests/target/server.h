// SPDX-License-Identifier: LGPL-2.1-or-later
// A target port: listens and serves each connection on its own thread.
#pragma once

#include "fd.h"
#include "identify.h"
#include "script.h"
#include "subsystem.h"

#include <atomic>
#include <deque>
#include <list>
#include <optional>
#include <thread>

namespace target {

class Listener;
class MutatedStream;

// Counters since the server was created. They reflect what the host does, so that tests can check the host by them.
struct Counters {
	std::atomic<std::uint64_t> connections{0};   // accepted
	std::atomic<std::uint64_t> adminConnects{0}; // Connect commands for queue 0 that were accepted
	std::atomic<std::uint64_t> ioConnects{0};
	std::atomic<std::uint64_t> open{0};  // currently open connections
	std::atomic<std::uint64_t> terms{0}; // H2CTermReq received
	std::atomic<std::uint64_t> reads{0}, writes{0}, flushes{0}, zeroes{0}, discards{0}, fua{0};
	std::atomic<std::uint64_t> keepAlives{0}, aborts{0}, asyncEvents{0}, shutdowns{0};
	std::atomic<std::uint64_t> digestErrors{0}; // in data and headers from the host
	std::atomic<std::uint64_t> maxInflight{0};  // maximum of commands seen outstanding on one I/O queue
	std::atomic<std::uint64_t> inCapsuleWrites{0}, r2ts{0};
	std::atomic<std::uint64_t> remoteReads{0}; // RDMA Reads of host memory
	std::atomic<std::uint64_t> crossResets{0}; // Cross-Controller Reset commands
	std::atomic<std::uint64_t> errorLogs{0};   // reads of the Error Information log
	std::atomic<std::uint64_t> conflicts{0};   // commands completed with Reservation Conflict
	std::atomic<std::uint64_t> deallocated{0}; // Write Zeroes with DEAC
	std::atomic<std::uint64_t> anaRefusals{0}; // I/O commands completed with an ANA status
	std::atomic<std::uint64_t> discoveryConnects{0}, discoveryReads{0};
};

// How the target executes Cross-Controller Reset.
struct CcrPlan {
	std::chrono::milliseconds delay{0}; // 0: done immediately, as the completion reports
	bool succeeds = true;
	bool notice = true; // report the end by an asynchronous event; otherwise only in the log
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
	Stores &stores() const { return namespaceOverride_ ? *namespaceOverride_.load() : subsystem_->stores(); }
	// Presents these namespaces instead of the subsystem's; the caller keeps ownership. Null: the subsystem's
	// again.
	void show(Stores *other) { namespaceOverride_ = other; }
	Counters &counters() { return counters_; }
	Associations &associations() { return subsystem_->associations(); }

	// start() after stop() listens on the same port again. stop() also ends all connections.
	void start();
	void stop();
	// Ends all connections, with a reset instead of FIN if rst is set. The port keeps listening.
	void dropConnections(bool rst = false);
	// While set, I/O connections are not read, so data accumulates in the socket buffers.
	void stallReads(bool on);
	bool readsStalled() const { return stalled_; }
	// While set, no connection is read, written or checked for disconnects, as behind a network that drops
	// everything. New connections are accepted.
	void silence(bool on);
	bool silent() const { return silent_; }
	// Bytes in the receive queues of the I/O connections.
	std::uint64_t unreadBytes() const;
	// Minimum time from the arrival of an I/O command to its completion.
	void setLatency(std::chrono::microseconds latency) { latency_ = latency.count(); }
	std::chrono::microseconds latency() const { return std::chrono::microseconds(latency_.load()); }
	// Number of I/O queues that later Set Features commands grant.
	void setMaxIoQueues(std::uint16_t queues) { maxIoQueues_ = queues; }
	std::uint16_t maxIoQueues() const { return maxIoQueues_; }
	// Executes the commands that Verdict::hold has deferred.
	void releaseHeld();
	void sendEvent(AsyncEvent event);
	void namespacesChanged();
	// Overrides the ANA log, header included. Empty: the log follows the states.
	void setAnaLog(Bytes log);
	// Takes effect immediately; in states that are not usable, I/O commands are refused. tell: send an event.
	void setAnaState(std::uint32_t group, AnaState state, bool tell = true);
	void setAnaStates(AnaStates states, bool tell = true);
	AnaState anaState(std::uint32_t group) const;
	Bytes anaLog(bool groupsOnly) const;
	void setCcr(CcrPlan plan);
	CcrPlan ccr() const;

	// Gives each later connection a stream that mutates its PDUs, see mutator.h. alone: no other connection is
	// open.
	using Mutate = std::function<std::unique_ptr<MutatedStream>(bool alone)>;
	void mutate(Mutate mutate);
	std::unique_ptr<MutatedStream> mutatedStream() const;

	// Keys of TLS that authentications have generated, by identity; only the last ones are kept.
	void keepGeneratedKey(const std::string &identity, Bytes key);
	std::optional<Bytes> generatedKey(const std::string &identity) const;

	// Records a protocol violation by the host. Tests expect none.
	void violation(std::string text);
	std::vector<std::string> violations() const;

private:
	void accept();
	void serve(std::shared_ptr<Connection> conn);
	void removeEnded();
	void forEach(const std::function<void(Connection &)> &fn) const;

	const Config config_;
	Script script_;
	std::shared_ptr<Subsystem> subsystem_;
	std::atomic<Stores *> namespaceOverride_{nullptr};
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

	struct ServedConnection;
	mutable std::mutex lock_;
	std::list<ServedConnection> served_;
	std::vector<std::string> violations_;
	std::deque<std::pair<std::string, Bytes>> generatedKeys_;
	Bytes anaLog_;
	AnaStates anaStates_;
	std::uint64_t anaChange_ = 1;
	CcrPlan ccr_;
	Mutate mutate_;
};

} // namespace target
