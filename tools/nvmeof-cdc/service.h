// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * An instance of the service. The store updates the model, the model yields views, and the workers serve the views to
 * hosts. Every change is written to the store first. Runs in one thread; each worker has its own.
 */
#pragma once

#include <deque>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <nvmeof/address.h>
#include <nvmeof/result.h>

#include "config.h"
#include "feeds.h"
#include "libctl/runtime/journal.h"
#include "libctl/runtime/loop.h"
#include "model.h"
#include "peer_limits.h"
#include "pull.h"
#include "wall_clock.h"
#include "worker.h"

namespace cdc {

// A change of the store, as users see it
struct ChangeEvent {
	std::uint64_t number; // from 1
	double time;          // seconds since 1970
	std::uint64_t generation;
	std::vector<std::string> put, removed; // keys; at most the first hundred
	std::size_t more;                      // number of further keys
	bool whole;                            // all records were read again
};

class Service {
public:
	using Done = Store::Done;

	Service(runtime::Loop &loop, Rules rules, Identity identity, std::unique_ptr<Store> store);
	~Service();

	// Errors: an address cannot be listened on, or the store cannot be used. @serving: called when the store has
	// loaded and hosts are served.
	nvmeof::Result<void> start(std::function<void()> serving);
	// Applies a new configuration; logs which of its changes need a restart. @done: see writeFile()
	void reload(Rules rules, Security::Loaded security, Done done = {});
	// For reload(); errors: see Security::load()
	nvmeof::Result<Security::Loaded> loadSecurity(const Rules &rules) const
	{
		return context_.security.load(rules.security);
	}
	std::shared_ptr<const Security::Current> security() const { return context_.security.current(); }
	// Author of a change, for the audit log, which has each record before and after the change
	struct Author {
		std::string who;                    // empty: no audit log
		runtime::LogLimit *limit = nullptr; // for the audit lines; null: no limit
	};
	void write(std::vector<Change> changes, Done done, Author author);
	void write(std::vector<Change> changes, Done done) { write(std::move(changes), std::move(done), Author()); }
	// Hands the hosts over to other instances and leaves the store, then calls @done.
	void drain(std::function<void()> done);
	// Called after each change of the store; hosts may be notified later.
	void onChangeEvent(std::function<void(const ChangeEvent &)> call) { listeners_.push_back(std::move(call)); }

	const Rules &rules() const { return rules_; }
	// The changes by which @model would match the configuration
	std::vector<Change> fileChanges(const Model &model) const;
	// Writes the records of the configuration that the store lacks, and repeats that until it succeeds. @done gets
	// the result of the first attempt; may be null
	void writeFile(Done done = {});
	// Hosts that are connected or registered; @done is called in this thread
	void knownHosts(const std::function<void(const std::set<std::string> &)> &done);
	const Identity &identity() const { return context_.identity; }
	const Model &model() const { return model_; }
	const Views &views() const { return *views_; }
	// Current views, for other threads; null: the store has not loaded yet
	std::shared_ptr<const Views> sharedViews() const { return views_; }
	std::shared_ptr<const Model> sharedModel();
	const Counters &counters() const { return context_.counters; }
	const Latencies &latencies() const { return context_.latencies; }
	std::vector<PullState> pulls() const { return pull_.state(); }
	StoreState storeState() const { return store_->state(); }
	const std::deque<ChangeEvent> &changeEvents() const { return changeEvents_; }
	bool draining() const { return draining_; }
	std::int64_t startedAt() const { return started_; }
	// For tests: the wall clock by which leases end
	void setWallClock(std::function<double()> clock) { wall_ = std::move(clock); }
	// The connected hosts; @done is called in this thread
	void listSessions(std::function<void(std::vector<HostSession>)> done);

private:
	nvmeof::Result<void> listen();
	void begin();
	void applyUpdate(const StoreUpdate &news);
	void publish();
	void note(const StoreUpdate &news);
	void shareSources();
	void leave(std::function<void()> done);
	void take(Worker &worker, const RegistrationRequest &request);
	void refuse(Worker &worker, const RegistrationRequest &request, std::uint16_t status, const std::string &why);
	void join();
	void publishSoon(bool atOnce);
	void publishLater();
	void updateLeases();
	void renew(Connected connected);
	// Writes of a size that every store accepts. @end: all were written, or the first error
	void writeInParts(std::vector<Change> changes, const Author &author, Done end);
	void scheduleLeaseUpdate();
	void watchWorkers();
	nvmeof::Result<std::vector<std::string>> addressesToAdvertise() const;

	Rules rules_;
	ServerContext context_;
	std::unique_ptr<Store> store_;
	Model model_;
	std::shared_ptr<const Model> copy_; // of model_, made on demand; null after a change
	std::shared_ptr<const Views> views_;
	runtime::Mailbox mailbox_;
	runtime::Timer leaseTimer_, publish_, watch_, fileTimer_;
	std::chrono::milliseconds fileDelay_; // of the next repetition of writeFile()
	std::weak_ptr<bool> fileWriting_;     // set while records of the configuration are being written
	std::vector<Done> fileWaiting_;       // for the next such write
	bool unpublished_ = false;            // not all changes were published to hosts
	Latency::Clock::time_point changed_;  // when the first unpublished change arrived
	TokenBucket publishes_;
	TokenBucket::Clock::time_point published_{};                        // last publication, immediate or delayed
	Rates<std::string> hostRates_;                                      // of changes of a host's record, by NQN
	std::size_t registering_ = 0;                                       // being written
	std::map<std::string, unsigned> writing_;                           // keys of registrations being written
	std::set<std::pair<nofctl::wire::DimEntity, std::string>> writers_; // of these
	runtime::LogLimit refusals_, audit_, failures_;
	Pull pull_;
	std::vector<std::vector<int>> sockets_; // for each worker, until it is started
	std::vector<std::unique_ptr<Worker>> workers_;
	std::function<void()> serving_;
	std::deque<ChangeEvent> changeEvents_;
	std::uint64_t lastChangeEvent_ = 0;
	std::vector<std::function<void(const ChangeEvent &)>> listeners_;
	bool draining_ = false;
	std::int64_t started_;
	std::vector<std::string> advertised_;        // last addresses of join()
	std::function<double()> wall_ = wallSeconds; // for leases
	ClockJump clock_;
	bool renewAll_ = false;        // the clock jumped, and not all renewals are written
	std::weak_ptr<bool> renewing_; // set while such renewals are being written
};

// One socket for each of @count threads; the kernel distributes connections among them. Errors: also if another process
// listens on the address
nvmeof::Result<std::vector<int>> listenAt(const nvmeof::Address &address, std::size_t count);

// An address of this machine
struct InterfaceAddress {
	std::string interface, address;
	bool loopback = false; // the interface is lo

	bool isIpv6() const { return address.find(':') != address.npos; }
};

// Errors: of getifaddrs(3)
nvmeof::Result<std::vector<InterfaceAddress>> interfaceAddresses();
// Whether hosts elsewhere may reach it: not 127.0.0.0/8, link-local, or the deprecated site-local fec0::/10, and not of
// lo or of an interface of containers or virtual machines of this machine. @networks: only addresses in one of them, of
// any interface; empty: all
bool isAdvertisable(const InterfaceAddress &own, const std::vector<Prefix> &networks);
// Those of @all. If there is none, and @networks is empty: those of interfaces of containers, too, with a line in the
// log, because only their names show what they are for
std::vector<InterfaceAddress> advertisableAddresses(const std::vector<InterfaceAddress> &all,
						    const std::vector<Prefix> &networks);

// Uses the ID in @rules.state, which is created if missing
nvmeof::Result<Identity> readIdentity(const Rules &rules);

// The default NQN, derived from a UUID
std::string nqnOf(const std::string &id);

// Audit log lines for changed records

constexpr std::size_t maxAudited = 100;

// Returns one line "targets/KEY: BEFORE -> AFTER", in JSON, for each record that @changes make differ from @model.
// Returns at most @max lines and compares at most the first 10 x @max changes; a last line has the number of changes
// that were not compared. A renewed lease alone does not count as a change.
std::vector<std::string> auditLines(const Model &model, const std::vector<Change> &changes,
				    std::size_t max = maxAudited);

} // namespace cdc
