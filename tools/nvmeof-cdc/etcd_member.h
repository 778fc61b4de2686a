// SPDX-License-Identifier: LGPL-2.1-or-later
// Membership of this instance in the group that shares an etcd. It lasts as long as its lease is kept alive.
#pragma once

#include "etcd_client.h"
#include "etcd_view.h"

namespace cdc::etcd {

class Member {
public:
	// @failed: see Writer
	Member(serving::Loop &loop, Client &client, const View &view, std::chrono::seconds ttl,
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
	serving::Timer again_;       // next keep-alive
	std::unique_ptr<Call> call_; // one call at a time
};

} // namespace cdc::etcd
