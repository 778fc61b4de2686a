// SPDX-License-Identifier: LGPL-2.1-or-later
// Waits for many controllers at once.
#pragma once

#include <nvmeof/client.h>

#include <future>
#include <stop_token>

#include "session.h"
#include "tracker.h"
#include "udev.h"

namespace nofctl {

/*
 * Subscribes before the first controller is asked for, so that nothing that happens to one is missed; looks again from
 * time to time nevertheless, should an event be lost.
 */
class ConnectWait {
public:
	static nvmeof::Result<ConnectWait> begin(Session &session, nvmeof::WaitFor wait,
						 std::chrono::milliseconds timeout, std::stop_token stop = {});

	// Starts one; its result is at the next index of finish().
	void start(const nvmeof::ConnectOptions &options);
	// Waits for one that exists.
	void join(const std::string &controller);
	// Waits for one as it was when it was made after begin(); an error is its result.
	void add(nvmeof::Result<nvmeof::Controller> controller);
	std::vector<nvmeof::Result<nvmeof::Controller>> finish();

private:
	struct Item {
		std::optional<ConnectTracker> tracker;
		std::optional<nvmeof::Error> error;
		bool complete = false;
		bool scanned = false;         // since it was live last
		Clock::time_point nextScan{}; // not before: the last one found something short
		std::future<nvmeof::Result<void>> scan{};

		bool pending() const { return tracker && !complete && !error; }
	};

	ConnectWait(Session &session, nvmeof::WaitFor wait, std::chrono::milliseconds timeout, std::stop_token stop);

	bool stillThere(Item &item);
	void advance(Item &item);
	bool scanned(Item &item);
	bool settled(Item &item);
	bool anyPending() const;
	nvmeof::Result<void> pump(Clock::time_point until);
	void look();
	nvmeof::Error incomplete(const Item &item) const;
	nvmeof::Result<nvmeof::Controller> outcome(Item &item);

	Session &session_;
	nvmeof::WaitFor wait_;
	std::chrono::milliseconds timeout_;
	Clock::time_point deadline_;
	std::stop_token stop_; // looked at from time to time: as if the time were over
	std::optional<nvmeof::EventStream> events_;
	std::optional<nvmeof::Error> deaf_; // no events any more
	std::vector<Item> items_;
};

} // namespace nofctl
