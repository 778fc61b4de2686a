// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A store that several instances share: etcd. What is there is read once, then watched; who has fallen behind what etcd
 * remembers reads it anew. While etcd cannot be reached, hosts are told what was known last, and nothing is changed.
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
	std::chrono::seconds lease{5};           // how long an instance is missed before it is gone
	std::chrono::milliseconds pulse{1000};   // how often etcd is asked whether it is there
	std::chrono::milliseconds slowest{5000}; // between attempts to reach it
	std::filesystem::path cache = {};        // what was known last, over a restart; empty: none
	bool rebuild = false;                    // a cache that is damaged is moved aside, and made anew
};

class EtcdStore : public Store {
public:
	EtcdStore(serving::Loop &loop, EtcdOptions options);
	~EtcdStore() override;

	// Tells what the cache has, if anything, at once. Errors: of the options, and of the cache
	nvmeof::Result<void> start(Told told) override;
	// Refused at once once none of etcd's members was there
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
	void look(std::unique_ptr<etcd::Call> &call,
		  std::function<void(const etcd::View::Marks &now, bool follows)> then);
	void readAll();
	void readPage(const std::string &from);
	void isRead();
	void watch();
	void noted(const etcd::Answer &answer);
	void happened(const std::vector<etcd::Event> &events);
	void synced();
	void pulse();
	void lost(std::string why);
	void gone(const std::string &why);
	void publish(News news);
	void lift(const etcd::View &view, std::function<void()> then);
	bool lifted(const etcd::View &view) const;
	void endRaises();
	void sweep();
	void keep();
	std::string refusal() const;

	EtcdOptions options_;
	Told told_;
	etcd::Client client_;
	etcd::View view_, reading_;
	etcd::Writer writer_;
	etcd::Member member_;
	std::unique_ptr<RecordFile> cache_;
	News unkept_; // in the cache
	bool cacheBroken_ = false;
	serving::Timer again_, late_, pulse_, keep_;
	nofctl::Backoff backoff_;
	std::unique_ptr<etcd::Call> step_, watch_, asked_, sweep_, lift_;
	std::vector<Raise> raises_;
	std::uint64_t generation_ = 0, floor_ = 0; // told; above which it has to be
	std::uint64_t expected_ = 0;               // of the watch: what etcd had told another call
	std::chrono::steady_clock::time_point expectedSince_;
	std::size_t failures_ = 0; // one after another
	bool synced_ = false;      // what happens is told
	std::int64_t heard_ = 0, agedSince_ = 0;
	std::string trouble_; // of all members, since then
};

} // namespace cdc
