// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * An instance of the service: what the store tells becomes the model, the model becomes views, and these the workers
 * tell to hosts. Everything that wants a change writes to the store. One thread; the workers have theirs.
 */
#pragma once

#include <deque>

#include "config.h"
#include "feeds.h"
#include "peer_rates.h"
#include "pull.h"
#include "serving/journal.h"
#include "serving/loop.h"
#include "worker.h"

namespace cdc {

// Something that has changed, as people are told of it
struct Happening {
	std::uint64_t number; // from 1
	double time;          // seconds since 1970
	std::uint64_t generation;
	std::vector<std::string> put, removed; // keys, the first hundred
	std::size_t more;                      // that are not named
	bool whole;                            // the store was read anew
};

class Service {
public:
	using Done = Store::Done;

	Service(serving::Loop &loop, Rules rules, Identity identity, std::unique_ptr<Store> store);
	~Service();

	// Errors: no address can be listened at, the store cannot be used. Hosts are served when the store has told
	// what there is.
	nvmeof::Result<void> start(std::function<void()> serving);
	// Anew from its configuration; what needs a restart is told.
	void reload(Rules rules);
	// The author of a change, whom the journal names with each record before and after it
	struct Author {
		std::string who;                    // empty: nothing is logged
		serving::LogLimit *limit = nullptr; // of the lines; null: none
	};
	void write(std::vector<Change> changes, Done done, Author author);
	void write(std::vector<Change> changes, Done done) { write(std::move(changes), std::move(done), Author()); }
	// Hosts are handed over to other instances, and this one is none of them any more, then @done.
	void drain(std::function<void()> done);
	// After each change of the store; hosts may be told of it later.
	void onHappening(std::function<void(const Happening &)> call) { listeners_.push_back(std::move(call)); }

	const Rules &rules() const { return rules_; }
	// By which @model would have what the configuration tells
	std::vector<Change> fileChanges(const Model &model) const;
	// Hosts that are connected or have registered; @done in this thread
	void knownHosts(const std::function<void(const std::set<std::string> &)> &done);
	const Identity &identity() const { return hall_.identity; }
	const Model &model() const { return model_; }
	const Views &views() const { return *views_; }
	// Of now, for other threads; null: the store has not told anything yet
	std::shared_ptr<const Views> sharedViews() const { return views_; }
	std::shared_ptr<const Model> sharedModel();
	const Counters &counters() const { return hall_.counters; }
	const Latencies &latencies() const { return hall_.latencies; }
	std::vector<PullState> pulls() const { return pull_.state(); }
	StoreState storeState() const { return store_->state(); }
	const std::deque<Happening> &happenings() const { return happenings_; }
	bool draining() const { return draining_; }
	std::int64_t startedAt() const { return started_; }
	// Who is connected; @done in this thread
	void census(std::function<void(std::vector<Guest>)> done);

private:
	nvmeof::Result<void> listen();
	void begin();
	void told(const News &news);
	void publish();
	void note(const News &news);
	void writeFile();
	void shareSources();
	void leave(std::function<void()> done);
	void take(Worker &worker, const RegistrationRequest &request);
	void refuse(Worker &worker, const RegistrationRequest &request, std::uint16_t status, const std::string &why);
	void join();
	void publishSoon(bool atOnce);
	void publishLater();
	void keepRegistrations();
	void renew(const Connected &connected);
	void writeInParts(std::vector<Change> changes, const Author &author);
	void nextUpkeep();
	void watchWorkers();
	std::vector<std::string> ownAddresses() const;

	Rules rules_;
	Hall hall_;
	std::unique_ptr<Store> store_;
	Model model_;
	std::shared_ptr<const Model> copy_; // of model_, until that changes; made when it is asked for
	std::shared_ptr<const Views> views_;
	serving::Mailbox mailbox_;
	serving::Timer upkeep_, publish_, watch_;
	bool unpublished_ = false;           // hosts have not been told of all changes yet
	Latency::Clock::time_point changed_; // the first of these
	TokenBucket publishes_;
	TokenBucket::Clock::time_point published_{}; // or put off, last
	PeerRates rates_;                            // of registrations
	std::size_t registering_ = 0;                // registrations that are being written
	std::map<std::string, unsigned> writing_;    // their keys
	serving::LogLimit refusals_, audit_, failures_;
	Pull pull_;
	std::vector<std::vector<int>> sockets_; // of each worker to be
	std::vector<std::unique_ptr<Worker>> workers_;
	std::function<void()> serving_;
	std::deque<Happening> happenings_;
	std::uint64_t lastHappening_ = 0;
	std::vector<std::function<void(const Happening &)>> listeners_;
	bool draining_ = false;
	std::int64_t started_;
};

} // namespace cdc
