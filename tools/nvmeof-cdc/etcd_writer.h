// SPDX-License-Identifier: LGPL-2.1-or-later
// Writes changes to etcd, one transaction at a time. Changes that arrive meanwhile are merged into the next one.
#pragma once

#include <deque>

#include "etcd_client.h"
#include "etcd_view.h"

namespace cdc::etcd {

class Writer {
public:
	// @failed: the current member is unusable
	Writer(serving::Loop &loop, Client &client, const View &view, std::function<void(std::string why)> failed);

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
	serving::Timer patience_;    // limits the wait for the view
	std::unique_ptr<Call> call_; // the transaction in flight
};

} // namespace cdc::etcd
