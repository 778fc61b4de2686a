// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A thread that serves the connections it has accepted. State shared by all workers is in ServerContext; the service
 * sends work through mailboxes.
 */
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>
#include <vector>

#include "admission.h"
#include "connection.h"
#include "counters.h"
#include "latency.h"
#include "registrar.h"
#include "security.h"
#include "libctl/runtime/journal.h"
#include "libctl/runtime/loop.h"
#include "libctl/wire/discovery_log.h"

namespace cdc {

// Allocates controller IDs; each is used by one controller at a time. Shared by all workers.
class Cntlids {
public:
	std::optional<std::uint16_t> take()
	{
		std::lock_guard lock(mutex_);
		for (std::size_t tries = 0; tries < used_.size(); tries++) {
			next_ = next_ % (used_.size() - 1) + 1; // never 0; a freed ID is reused as late as possible
			if (!used_[next_]) {
				used_[next_] = true;
				return static_cast<std::uint16_t>(next_);
			}
		}
		return {};
	}
	void give(std::uint16_t cntlid)
	{
		std::lock_guard lock(mutex_);
		used_[cntlid] = false;
	}

private:
	std::mutex mutex_;
	std::vector<bool> used_ = std::vector<bool>(nofctl::wire::firstReservedCntlid);
	std::size_t next_ = 0;
};

struct FrontRules {
	bool digests = true;
	ConnectionLimit::Limits connections;
	Admission::Limits admission; // of each worker
	// Memory limit of registrations that are being written; an eighth of it per address, of the last quarter a 64th
	std::size_t registrationBytes = 64u << 20;
	PeerRates::Limits registrations{1024, 100}; // rate per address
	SteadyMs stepMs = 5000, idleMs = 120000;    // to finish a step; without keep-alive
	AuthenticationLimit::Limits authentications, handshakes;
	// Within which sessions end that changed rules or keys no longer allow; at random in the second half of it, so
	// that hosts do not all come back at once
	SteadyMs reviewMs = 30000;
};

struct RegistrationRequest {
	std::uint64_t connection;
	std::uint16_t cid;
	nofctl::wire::DimTask task;
	nofctl::wire::Registration registration;
	Registrant who;
	std::shared_ptr<void> reservation; // from ServerContext::reserve(); held until the write is done
};

// A connected host, for status output
struct HostSession {
	std::string hostnqn, address;
	std::uint64_t generation; // generation that the host has read; 0: none
	bool current;             // the host's log has not changed since
	bool persistent;          // has an Asynchronous Event Request outstanding
	std::uint16_t cntlid;
	std::string registered = {}; // NQN registered over the connection
	std::string hostid = {};     // a UUID
	std::optional<Authenticator::Proof> proof = {};
	std::optional<TlsPeer> tls = {};
};

// State shared by all workers
struct ServerContext {
	ServerContext(Identity identity, const FrontRules &rules)
		: identity(std::move(identity)), rules(rules), connectionLimit(rules.connections),
		  authenticationLimit(rules.authentications), handshakeLimit(rules.handshakes),
		  registrationRates_(rules.registrations)
	{
	}

	const Identity identity;
	const FrontRules rules;
	ConnectionLimit connectionLimit;
	AuthenticationLimit authenticationLimit;
	AuthenticationLimit handshakeLimit; // of TLS
	Security security;
	// Log limits, one for each kind of refusal of hosts, so that one does not hide another
	struct {
		std::array<runtime::LogLimit, refusalCount> connects; // by reason
		runtime::LogLimit handshakes, authentications, sessions;

		runtime::LogLimit &connect(Refusal why) { return connects[static_cast<std::size_t>(why)]; }
	} refusals;
	Cntlids cntlids;
	Counters counters;
	Latencies latencies;
	// Reserves memory for a registration of @bytes until the last copy of the result is gone; null: the limit in
	// all, or for that network, or the rate of its registrations is reached. From any thread.
	std::shared_ptr<void> reserve(const Peer &from, std::size_t bytes);
	std::size_t reserved() const;
	// Called in a worker's thread to process a registration; Worker::registered() reports the outcome.
	std::function<void(class Worker &, RegistrationRequest)> registration;

private:
	void release(const Peer &network, std::size_t bytes);

	mutable std::mutex mutex_;
	std::size_t reserved_ = 0;
	std::map<Peer, std::size_t> reservedFrom_; // by network
	PeerRates registrationRates_;
};

class Worker {
public:
	// @sockets: listening sockets; the worker takes ownership
	Worker(ServerContext &context, std::vector<int> sockets, std::shared_ptr<const Views> views);
	~Worker(); // stops the thread

	// From any thread:
	// @published is released when each connection has the views.
	void publish(std::shared_ptr<const Views> views, std::shared_ptr<void> published = {});
	void registered(std::uint64_t connection, std::uint16_t cid, std::uint16_t status);
	void listSessions(std::function<void(std::vector<HostSession>)> done); // @done is called in the worker's thread
	// Sends a heartbeat. False: the last @max of them were not answered.
	bool runs(unsigned max);
	// Accepts no more hosts and closes all connections within @ms. @done: called in the worker's thread at the end
	void drain(SteadyMs ms, std::function<void()> done);

	// For connections:
	ServerContext &context() { return context_; }
	runtime::Poller &poller() { return poller_; }
	const std::shared_ptr<const Views> &views() const { return views_; }
	Output &scratch() { return scratch_; }
	std::span<std::uint8_t> buffer() { return buffer_; }
	Admission::Verdict ask(const Connection &connection, const std::string &hostnqn);
	void leave(std::uint64_t connection); // ends its admission
	void submit(RegistrationRequest request) { context_.registration(*this, std::move(request)); }
	void end(std::uint64_t connection); // deferred

	static SteadyMs now();

private:
	class Listener;

	template <typename Call> void serve(Connection &connection, Call &&call);
	void listen();
	void accept(int socket);
	void runDeferred();
	void sweep();
	void review();
	void disconnectGradually();

	ServerContext &context_;
	runtime::Loop loop_{runtime::Loop::Watchdog::none};
	runtime::Mailbox mailbox_{loop_};
	runtime::Poller poller_{loop_};
	std::shared_ptr<const Views> views_;
	std::shared_ptr<const Security::Current> reviewed_; // by which all sessions were reviewed
	bool zonesChanged_ = false;                         // since then
	Admission admission_;
	Output scratch_;
	std::vector<std::uint8_t> buffer_;
	std::uint64_t lastId_ = 0;
	std::atomic<unsigned> unanswered_{0};
	std::vector<std::unique_ptr<Listener>> listeners_;
	std::unordered_map<std::uint64_t, std::unique_ptr<Connection>> connections_;
	std::vector<std::uint64_t> closed_;
	runtime::Timer sweep_, deferredTimer_, acceptTimer_, leaving_;
	std::function<void()> drained_;
	SteadyMs leaveBy_ = 0;
	std::thread thread_; // last, as it uses the other members
};

} // namespace cdc
