// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A store that several instances share: etcd. All records are read once, then watched; they are read again after a
 * compaction that removed missed events. While etcd is unreachable, hosts get the last known records, and writes fail.
 */
#pragma once

#include <deque>
#include <map>
#include <set>

#include "etcd_client.h"
#include "libctl/base/jitter.h"
#include "record_file.h"
#include "store.h"

namespace cdc::etcd {

/*
 * Keys in etcd, below the configured prefix:
 *   targets/..., zones/..., hosts/..., instances/...	records, as in record.h
 *   alive/ID		an instance that is running: bound to its lease. When it is gone, another instance removes
 *			the record.
 *   generation		put by each transaction that changes discovery logs
 *   base		a number: GENCTR is this, plus the revision in which "generation" was put last
 * GENCTR therefore depends only on the contents of etcd, not on the reader: it is the same for all instances, also
 * after a compaction, and after leases have expired while no instance was running.
 */
class View {
public:
	struct Position { // identify a state of the store
		Header header;
		std::uint64_t base = 0, baseRevision = 0, generationRevision = 0;

		std::uint64_t generation() const { return base && generationRevision ? base + generationRevision : 0; }
		// Whether @later continues this state; if not, it is another cluster or a restored backup.
		bool isContinuedBy(const Position &later) const;
	};

	explicit View(std::string prefix) : prefix_(std::move(prefix)) {}

	const std::string &prefix() const { return prefix_; }
	std::string aliveKey(const std::string &instance) const { return prefix_ + "alive/" + instance; }
	std::string generationKey() const { return prefix_ + "generation"; }
	std::string baseKey() const { return prefix_ + "base"; }

	// Starts with the result of a range request, at its revision
	void begin(const Header &header) { marks_.header = header; }
	// Applies events. All events of one revision have to be in one call.
	StoreUpdate apply(const std::vector<Event> &events);
	StoreUpdate whole() const;

	const Position &position() const { return marks_; }
	std::uint64_t revision() const { return marks_.header.revision; } // the last one applied
	std::uint64_t generation() const { return marks_.generation(); }
	const std::string *valueOf(const std::string &key) const; // of a record; null: there is none
	bool alive(const std::string &instance) const { return alive_.contains(instance); }
	std::vector<std::string> dead() const; // instances with a record that are not alive

private:
	void apply(const Event &event, std::vector<Change> &changes);

	std::string prefix_;
	Position marks_;
	std::map<std::string, std::string> records_;
	std::set<std::string> alive_;
};

// Writes changes to etcd, one transaction at a time. Changes that arrive meanwhile are merged into the next one.
class Writer {
public:
	// @failed: the current member is unusable
	Writer(runtime::Loop &loop, Client &client, const View &view, std::function<void(std::string why)> failed);

	void write(std::vector<Change> changes, Store::Done done);
	// run(): etcd is reachable and the view is current. viewChanged(): the view has changed.
	void run();
	void viewChanged();
	// etcd is unreachable: the transaction in flight fails with an unknown outcome; queued writes stay queued.
	void stop(const std::string &why);
	// etcd stays unreachable: fails all queued writes.
	void refuse(const std::string &why);

private:
	struct Write {
		std::vector<Change> changes;
		std::size_t bytes;
		Store::Done done;
	};
	using Changes = std::map<std::string, std::optional<std::string>>;

	void next();
	Changes gather();
	JsonValue transaction(const Changes &changes) const;
	void answered(const Answer &answer);
	void finish(const nvmeof::Result<void> &result);

	Client &client_;
	const View &view_;
	std::function<void(std::string)> failed_;
	bool running_ = false;
	std::deque<Write> queue_;
	std::vector<Write> group_;   // writes of the transaction in flight
	std::uint64_t written_ = 0;  // revision of the transaction until the view includes it; 0: none
	runtime::Timer patience_;    // limits the wait for the view
	std::unique_ptr<Call> call_; // the transaction in flight
};

// Membership of this instance in the group that shares an etcd. It lasts as long as its lease is kept alive.
class Member {
public:
	// @failed: see Writer
	Member(runtime::Loop &loop, Client &client, const View &view, std::chrono::seconds ttl,
	       std::function<void(std::string why)> failed);

	void join(const Instance &instance);
	void leave(Store::Done done);
	// See Writer
	void run();
	void viewChanged();
	void stop(const std::string &why);

	bool isSelf(const std::string &id) const { return instance_ && instance_->id == id; }

private:
	using Then = void (Member::*)(const Answer &answer);

	void go();
	void ask(const char *path, const JsonValue &body, Then then);
	void put();
	void keep();
	void isGranted(const Answer &answer);
	void isPut(const Answer &answer);
	void isKept(const Answer &answer);
	bool isThere() const;
	void endLeave(const std::string &trouble);

	Client &client_;
	const View &view_;
	std::chrono::seconds ttl_;
	std::function<void(std::string)> failed_;
	bool running_ = false;
	std::optional<Instance> instance_;
	Store::Done left_;           // completion of leave()
	std::int64_t lease_ = 0;     // etcd may have expired it
	std::uint64_t put_ = 0;      // revision in which the records were bound to the lease
	runtime::Timer again_;       // next keep-alive
	std::unique_ptr<Call> call_; // one call at a time
};

} // namespace cdc::etcd

namespace cdc {

struct EtcdOptions {
	etcd::Options etcd = {};
	std::string prefix = "/nvmeof/cdc/";
	std::chrono::seconds lease{5};           // TTL: how long an instance may be silent before it counts as gone
	std::chrono::milliseconds pulse{1000};   // interval of the checks that etcd is reachable
	std::chrono::milliseconds slowest{5000}; // longest back-off between connection attempts
	std::filesystem::path cache = {};        // file with the last known records; empty: no cache
	bool rebuild = false;                    // move a damaged cache aside and create a new one
};

class EtcdStore : public Store {
public:
	EtcdStore(runtime::Loop &loop, EtcdOptions options);
	~EtcdStore() override;

	// Reports the records of the cache, if any, at once. Errors: invalid options, or the cache cannot be opened
	nvmeof::Result<void> start(OnUpdate onUpdate) override;
	// Fails at once while no member of etcd is reachable
	void write(std::vector<Change> changes, Done done) override;
	void raise(std::uint64_t above, Done done) override;
	void join(const Instance &instance) override;
	void leave(Done done) override;
	StoreState state() const override;

private:
	struct Raise {
		std::uint64_t above;
		Done done;
	};

	nvmeof::Result<void> openCache();
	void connect();
	void readMarks(std::unique_ptr<etcd::Call> &call,
		       std::function<void(const etcd::View::Position &now, bool follows)> then);
	void readAll();
	void readPage(const std::string &from);
	void readDone();
	void watch();
	void watchMessage(const etcd::Answer &answer);
	void applyEvents(const std::vector<etcd::Event> &events);
	void synced();
	void pulse();
	void lost(std::string why);
	void reportUnreachable(const std::string &why);
	void publish(StoreUpdate news);
	void raiseGeneration(const etcd::View &view, std::function<void()> then);
	bool generationIsHighEnough(const etcd::View &view) const;
	void endRaises();
	void sweep();
	void writeCache();
	std::string refusal() const;

	static constexpr int maxPage = 2000;

	EtcdOptions options_;
	OnUpdate onUpdate_;
	etcd::Client client_;
	etcd::View view_, reading_;
	int page_ = maxPage; // records per range request; less after one that failed
	etcd::Writer writer_;
	etcd::Member member_;
	std::unique_ptr<RecordFile> cache_;
	StoreUpdate pendingCache_; // not yet in the cache
	bool cacheBroken_ = false;
	runtime::Timer retryTimer_, late_, pulse_, cacheTimer_;
	nofctl::Backoff backoff_;
	std::unique_ptr<etcd::Call> step_, watch_, asked_, sweep_, raiseCall_;
	std::vector<Raise> raises_;
	std::uint64_t generation_ = 0, minGeneration_ = 0; // last reported; minimum set by raise()
	std::uint64_t expected_ = 0; // revision of the generation key that the watch has yet to report
	std::chrono::steady_clock::time_point expectedSince_;
	std::size_t failures_ = 0; // consecutive
	bool synced_ = false;      // the watch is established
	std::int64_t lastContact_ = 0, staleSince_ = 0;
	std::string trouble_; // why no member is reachable; empty: one is
};

} // namespace cdc
