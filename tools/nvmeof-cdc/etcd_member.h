// SPDX-License-Identifier: LGPL-2.1-or-later
// This instance among those that share an etcd: there as long as it keeps its lease alive.
#pragma once

#include "etcd_client.h"
#include "etcd_view.h"

namespace cdc::etcd {

class Member {
public:
	// @failed: as of Writer
	Member(serving::Loop &loop, Client &client, const View &view, std::chrono::seconds ttl,
	       std::function<void(std::string why)> failed);

	void join(const Instance &instance);
	void leave(Store::Done done);
	// As of Writer
	void run();
	void told();
	void stop(const std::string &why);

	bool isSelf(const std::string &id) const { return instance_ && instance_->id == id; }

private:
	using Then = void (Member::*)(const Answer &answer);

	void go();
	void ask(const char *path, const Json &body, Then then);
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
	Store::Done left_;           // who waits for it
	std::int64_t lease_ = 0;     // that etcd may still know
	std::uint64_t put_ = 0;      // the revision in which what is there was bound to it
	serving::Timer again_;       // kept alive
	std::unique_ptr<Call> call_; // one at a time
};

} // namespace cdc::etcd
