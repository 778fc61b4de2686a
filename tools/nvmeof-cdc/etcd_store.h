// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A store that several instances share: etcd. All records are read once, then watched; they are read again after a
 * compaction that removed missed events. While etcd is unreachable, hosts get the last known records, and writes fail.
 */
#pragma once

#include "etcd_member.h"
#include "etcd_writer.h"
#include "libctl/base/jitter.h"
#include "record_file.h"

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
	EtcdStore(serving::Loop &loop, EtcdOptions options);
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

	EtcdOptions options_;
	OnUpdate onUpdate_;
	etcd::Client client_;
	etcd::View view_, reading_;
	etcd::Writer writer_;
	etcd::Member member_;
	std::unique_ptr<RecordFile> cache_;
	StoreUpdate pendingCache_; // not yet in the cache
	bool cacheBroken_ = false;
	serving::Timer retryTimer_, late_, pulse_, cacheTimer_;
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
