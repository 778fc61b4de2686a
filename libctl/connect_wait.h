// SPDX-License-Identifier: LGPL-2.1-or-later
// Waits for many controllers at once.
#pragma once

#include <functional>

#include "engine.h"
#include "tracker.h"

namespace nofctl {

/*
 * Listens before the first controller is asked for, so that nothing that happens to one is missed. Looks by itself only
 * when events were lost. Whether the namespaces have been scanned a module tells; one that is too old for that is asked
 * to scan once more, and answers when it has.
 */
class ConnectWait : public Operation {
public:
	using Outcome = nvmeof::Result<nvmeof::Connection>;
	using Done = std::function<void(std::vector<Outcome>)>;

	// listen() has been called, unless nothing is waited for. @done gets one for each of what follows, in its
	// order.
	ConnectWait(Engine &engine, const nvmeof::WaitOptions &wait, Done done);

	// @stop ends the wait as its timeout does, at the next advance().
	void endWith(std::stop_token stop) { stop_ = std::move(stop); }
	// Asks for one. Cancelled, it is removed.
	void start(const nvmeof::ConnectOptions &options);
	// Waits for one that exists.
	void join(const std::string &controller);
	// Waits for one as it was when it was made after listen(); an error is its result.
	void add(nvmeof::Result<nvmeof::Controller> controller);

	void onEvent(const nvmeof::Event &event) override;
	void onDeaf(const nvmeof::Error &error) override { deaf_ = error; }
	bool advance() override;
	Clock::time_point wake() const override;
	void cancel() override;

private:
	struct Item {
		std::optional<ConnectTracker> tracker;
		std::optional<nvmeof::Error> error;
		std::optional<std::vector<std::string>> disks; // it is complete
		bool own = false;                              // made here
		bool news = true;                              // since it was looked at
		Socket::Id scan = 0;                           // one that was asked for
		bool asked = false;                            // and went well, since it was live last
		Clock::time_point nextScan{};                  // not before: the last one found something short

		bool pending() const { return tracker && !disks && !error; }
		const nvmeof::Controller &controller() const { return tracker->controller(); }
	};

	void takeRemoval(Item &item);
	void advance(Item &item);
	bool scanned(Item &item);
	void takeScan(Item &item, const nvmeof::Result<void> &done);
	void settle(Item &item);
	bool hasWanted(const std::vector<nvmeof::Path> &paths, const Item &item);
	bool late() const { return Clock::now() >= deadline_ || stop_.stop_requested(); }
	bool enough();
	void look();
	void finish();
	nvmeof::Error incomplete(const Item &item) const;
	Outcome outcome(Item &item);

	Engine &engine_;
	nvmeof::WaitOptions wait_;
	Done done_;
	Clock::time_point deadline_;
	Clock::time_point enough_ = Clock::time_point::max(); // with Require::any
	std::stop_token stop_;
	bool cancelled_ = false;
	std::optional<nvmeof::Error> deaf_; // no events any more
	std::vector<Item> items_;
};

} // namespace nofctl
