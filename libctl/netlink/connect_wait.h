// SPDX-License-Identifier: LGPL-2.1-or-later
// Waits for several controllers at once.
#pragma once

#include <functional>

#include "engine.h"
#include "tracker.h"

namespace nofctl {

/*
 * Subscribes to events before the first connect request, so that no event is missed. Queries the kernel only after
 * events were lost. The module reports whether the namespaces have been scanned; a module too old for that gets a
 * rescan request, which it answers when the scan has finished.
 */
class ConnectWait : public Operation {
public:
	using Outcome = nvmeof::Result<nvmeof::Connection>;
	using Done = std::function<void(std::vector<Outcome>)>;

	// Engine::listen() must have been called, unless nothing is waited for. @done gets one result for each start(),
	// join() and add(), in call order.
	ConnectWait(Engine &engine, const nvmeof::WaitOptions &wait, Done done);

	// A stop request ends the wait like its timeout, at the next advance().
	void endWith(std::stop_token stop) { stop_ = std::move(stop); }
	// Creates a controller. Cancelling removes it.
	void start(const nvmeof::ConnectOptions &options);
	// Waits for an existing controller.
	void join(const std::string &controller);
	// Waits for a controller that was created after listen(). An error becomes its result.
	void add(nvmeof::Result<nvmeof::Controller> controller);

	void onEvent(const nvmeof::Event &event) override;
	void onStreamEnd(const nvmeof::Error &error) override { streamError_ = error; }
	bool advance() override;
	Clock::time_point wake() const override;
	void cancel() override;

private:
	struct Item {
		std::optional<ConnectionTracker> tracker;
		std::optional<nvmeof::Error> error;
		std::optional<std::vector<std::string>> disks; // set: complete
		bool own = false;                              // created here
		bool news = true;                              // events since last looked at
		Socket::Id scan = 0;                           // pending rescan request
		bool asked = false;                            // a rescan succeeded since last live
		Clock::time_point nextScan{};                  // earliest time of the next rescan

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
	Clock::time_point enough_ = Clock::time_point::max(); // end of the grace period of Require::any
	std::stop_token stop_;
	bool cancelled_ = false;
	std::optional<nvmeof::Error> streamError_; // the event stream has ended
	std::vector<Item> items_;
};

} // namespace nofctl
