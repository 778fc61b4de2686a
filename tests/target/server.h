// SPDX-License-Identifier: LGPL-2.1-or-later
// A target: listens, and gives each connection a thread.
#pragma once

#include "association.h"
#include "config.h"
#include "fd.h"
#include "script.h"
#include "store.h"

#include <atomic>
#include <list>
#include <thread>

namespace target {

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
};

class Server {
public:
	explicit Server(Config config = {});
	~Server();
	Server(const Server &) = delete;
	Server &operator=(const Server &) = delete;

	std::uint16_t port() const { return port_; }
	const Config &config() const { return config_; }
	Script &script() { return script_; }
	Stores &stores() { return stores_; }
	Counters &counters() { return counters_; }
	Associations &associations() { return associations_; }

	// Listening on the same port again after stop(); stop() also ends all connections.
	void start();
	void stop();
	// Ends all connections; rst: with a reset instead of FIN. Listening goes on.
	void dropConnections(bool rst = false);
	// While set, I/O connections are not read, so that data piles up in the sockets.
	void stallReads(bool on);
	bool readsStalled() const { return stalled_; }
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
	// The ANA log as it is returned, header included; empty: every namespace optimized.
	void setAnaLog(Bytes log);
	Bytes anaLog() const;

	// A breach of the protocol by the host. Tests want none.
	void violation(std::string text);
	std::vector<std::string> violations() const;

private:
	void accept();
	void serve(Fd socket);
	void reap();
	void forEach(const std::function<void(Connection &)> &fn) const;

	const Config config_;
	Script script_;
	Stores stores_;
	Counters counters_;
	Associations associations_;
	Fd listener_;
	Wake wake_;
	std::uint16_t port_ = 0;
	std::atomic<bool> stopping_{false};
	std::atomic<bool> stalled_{false};
	std::atomic<std::int64_t> latency_{0};
	std::atomic<std::uint16_t> maxIoQueues_;
	std::jthread acceptor_;

	struct Served;
	mutable std::mutex lock_;
	std::list<Served> served_;
	std::vector<std::string> violations_;
	Bytes anaLog_;
};

} // namespace target
