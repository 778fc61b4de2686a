// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A thread with connections of its own: a connection stays with the one that has accepted it. What all workers share is
 * in Hall; what the service has for them comes through their mailboxes.
 */
#pragma once

#include <atomic>
#include <functional>
#include <thread>
#include <unordered_map>

#include "admission.h"
#include "cntlids.h"
#include "connection.h"
#include "counters.h"
#include "latency.h"
#include "serving/loop.h"
#include "serving/poller.h"

namespace cdc {

struct FrontRules {
	bool digests = true;
	Peers::Limits connections;
	Admission::Limits admission; // of each worker
	// Of registrations on their way to the store, an eighth of them from one address
	std::size_t registrationBytes = 64u << 20;
	Moment stepMs = 5000, idleMs = 120000; // for a connection to begin; without keep-alive
};

struct RegistrationRequest {
	std::uint64_t connection;
	std::uint16_t cid;
	nofctl::wire::DimTask task;
	nofctl::wire::Registration registration;
	Peer from;
	std::shared_ptr<void> reservation; // of Hall::reserve(); kept until it is written
};

// What a host that is connected is told of to people
struct Guest {
	std::string hostnqn, address;
	std::uint64_t generation; // that it has; 0: it has not read its log
	bool current;             // nothing that it sees has changed since
	bool persistent;          // waits for events
	std::uint16_t cntlid;
	std::string registered = {}; // the NQN that was registered over it
	std::string hostid = {};     // a UUID
};

// What workers share
struct Hall {
	Hall(Identity identity, const FrontRules &rules)
		: identity(std::move(identity)), rules(rules), peers(rules.connections)
	{
	}

	const Identity identity;
	const FrontRules rules;
	Peers peers;
	Cntlids cntlids;
	Counters counters;
	Latencies latencies;
	// Memory for a registration of @bytes, until the last copy of what is returned ends; null: there are too many,
	// in all or from there. From any thread.
	std::shared_ptr<void> reserve(const Peer &from, std::size_t bytes);
	std::size_t reserved() const;
	// Called in a worker's thread: takes a registration, of which Worker::registered() tells the outcome.
	std::function<void(class Worker &, RegistrationRequest)> registration;

private:
	void release(const Peer &network, std::size_t bytes);

	mutable std::mutex mutex_;
	std::size_t reserved_ = 0;
	std::map<Peer, std::size_t> reservedFrom_; // by network
};

class Worker {
public:
	// @sockets: that listen; they are this worker's
	Worker(Hall &hall, std::vector<int> sockets, std::shared_ptr<const Views> views);
	~Worker(); // ends it

	// From any thread:
	// @told ends when each connection has been told.
	void publish(std::shared_ptr<const Views> views, std::shared_ptr<void> told = {});
	void registered(std::uint64_t connection, std::uint16_t cid, std::uint16_t status);
	void census(std::function<void(std::vector<Guest>)> done); // called in the worker's thread
	// Asks whether it still runs. False: it has not answered the last @most of these questions.
	bool runs(unsigned most);
	// No new hosts; those that there are go within @ms. @done, in the worker's thread: they have.
	void drain(Moment ms, std::function<void()> done);

	// For connections:
	Hall &hall() { return hall_; }
	serving::Poller &poller() { return poller_; }
	const std::shared_ptr<const Views> &views() const { return views_; }
	Output &scratch() { return scratch_; }
	std::span<std::uint8_t> buffer() { return buffer_; }
	Admission::Verdict ask(const Connection &connection, const std::string &hostnqn);
	void leave(std::uint64_t connection); // its place
	void submit(RegistrationRequest request) { hall_.registration(*this, std::move(request)); }
	void end(std::uint64_t connection); // soon

	static Moment now();

private:
	class Listener;

	template <typename Call> void serve(Connection &connection, Call &&call);
	void listen();
	void accept(int socket);
	void settle();
	void sweep();
	void leaveOneByOne();

	Hall &hall_;
	serving::Loop loop_{serving::Loop::Watchdog::none};
	serving::Mailbox mailbox_{loop_};
	serving::Poller poller_{loop_};
	std::shared_ptr<const Views> views_;
	Admission admission_;
	Output scratch_;
	std::vector<std::uint8_t> buffer_;
	std::uint64_t lastId_ = 0;
	std::atomic<unsigned> unanswered_{0};
	std::vector<std::unique_ptr<Listener>> listeners_;
	std::unordered_map<std::uint64_t, std::unique_ptr<Connection>> connections_;
	std::vector<std::uint64_t> dead_;
	serving::Timer sweep_, settle_, again_, leaving_;
	std::function<void()> drained_;
	Moment leaveBy_ = 0;
	std::thread thread_; // last: what it uses is there before
};

} // namespace cdc
