// SPDX-License-Identifier: LGPL-2.1-or-later
// What is to be written to etcd: one transaction after the other, of all that has come meanwhile.
#pragma once

#include <deque>

#include "etcd_client.h"
#include "etcd_view.h"

namespace cdc::etcd {

class Writer {
public:
	// @failed: the member that is talked to is of no use
	Writer(serving::Loop &loop, Client &client, const View &view, std::function<void(std::string why)> failed);

	void write(std::vector<Change> changes, Store::Done done);
	// Etcd is there, and the view is as of now; it has grown.
	void run();
	void told();
	// Etcd cannot be asked for now: what is under way may have been written or not. What waits goes on waiting.
	void stop(const std::string &why);
	// Nor will it be soon: none waits any more.
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
	Json transaction(const Changes &changes) const;
	void answered(const Answer &answer);
	void finish(const nvmeof::Result<void> &result);

	Client &client_;
	const View &view_;
	std::function<void(std::string)> failed_;
	bool running_ = false;
	std::deque<Write> queue_;
	std::vector<Write> group_;   // under way
	std::uint64_t written_ = 0;  // in which revision it was written, which is not told yet
	serving::Timer patience_;    // of its writers
	std::unique_ptr<Call> call_; // that writes it
};

} // namespace cdc::etcd
