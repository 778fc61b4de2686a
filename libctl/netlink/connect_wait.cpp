// SPDX-License-Identifier: LGPL-2.1-or-later
#include "connect_wait.h"

#include <algorithm>
#include <cerrno>

#include "libctl/base/security.h"
#include "removal.h"

namespace nofctl {

using namespace nvmeof;
using namespace std::chrono_literals;

namespace {

constexpr std::chrono::milliseconds udevInterval{100}; // fallback if the udev monitor receives nothing
constexpr std::chrono::milliseconds forOthers{500};    // lets connects of similar speed complete too
constexpr std::chrono::milliseconds scanInterval{500}; // retry delay of a scan that failed with ENOMEM or EAGAIN

// The controller exists and stays.
Error notScanned(const Error &why, const std::string &controller)
{
	Error error = why;
	error.object = ErrorObject::named(controller);
	error.left = ControllerState::live;
	error.message = "connected, but " + why.message;
	return error;
}

WaitOptions completed(WaitOptions wait)
{
	if (wait.nsid || wait.uuid)
		wait.wait = std::max(wait.wait, WaitFor::namespaces);
	return wait;
}

} // namespace

ConnectWait::ConnectWait(Engine &engine, const WaitOptions &wait, Done done)
	: engine_(engine), wait_(completed(wait)), done_(std::move(done)), deadline_(deadlineIn(wait.timeout))
{
}

void ConnectWait::add(Result<Controller> controller)
{
	Item item;
	if (controller)
		item.tracker.emplace(*std::move(controller));
	else
		item.error = controller.error();
	if (item.tracker && wait_.wait == WaitFor::none)
		item.disks.emplace();
	items_.push_back(std::move(item));
}

void ConnectWait::start(const ConnectOptions &options)
{
	Result<Controller> controller = engine_.session().create(options);
	bool there = !controller && controller.error().code == ErrorCode::alreadyConnected &&
		     !controller.error().object.none();
	bool own = controller.ok();
	if (there && options.idempotent) {
		controller = engine_.session().controller(controller.error().object.name);
		if (controller)
			if (Result<void> secure = checkSecurity(options.security, *controller); !secure)
				controller = secure.error();
	}
	add(std::move(controller));
	items_.back().own = own;
}

void ConnectWait::join(const std::string &controller)
{
	add(engine_.session().controller(controller));
}

void ConnectWait::takeScan(Item &item, const Result<void> &done)
{
	item.scan = 0;
	if (done) {
		item.asked = true;
		return;
	}
	bool gone = done.error().code == ErrorCode::noSuchObject;
	// the connection was lost again: the controller reconnects or is removed
	if (gone || done.error().sysErrno == ENOTCONN || done.error().sysErrno == ECONNRESET)
		item.tracker->again();
	if (gone)
		item.tracker->onQuery(done.error());
	if (item.tracker->state() != ConnectionTracker::State::live) {
		look();
		return;
	}
	if (done.error().sysErrno == ENOMEM || done.error().sysErrno == EAGAIN)
		item.nextScan = Clock::now() + scanInterval; // still connected; scan again later
	else
		item.error = notScanned(done.error(), item.controller().name);
}

bool ConnectWait::scanned(Item &item)
{
	if (item.controller().scans)
		return *item.controller().scans > 0;
	if (item.asked)
		return true;
	if (!item.scan) {
		if (Clock::now() < item.nextScan)
			return false;
		item.scan = engine_.session().startRescan(item.controller().name);
	}
	if (std::optional<Result<void>> done = engine_.session().finished(item.scan))
		takeScan(item, *done);
	return item.asked;
}

bool ConnectWait::hasWanted(const std::vector<Path> &paths, const Item &item)
{
	if (!wait_.nsid && !wait_.uuid)
		return true;
	Result<std::vector<Namespace>> namespaces = engine_.session().namespaces(item.controller().subsystem);
	if (!namespaces)
		return false;
	return std::ranges::any_of(*namespaces, [&](const Namespace &ns) {
		bool wanted = (!wait_.nsid || ns.nsid == *wait_.nsid) && (!wait_.uuid || ns.uuid == *wait_.uuid);
		return wanted && std::ranges::find(paths, ns.name, &Path::nameSpace) != paths.end();
	});
}

// The controller has reached the requested state. Collects its disks once they are complete, too.
void ConnectWait::settle(Item &item)
{
	bool links = wait_.wait >= WaitFor::udev && udevRuns();
	if (!item.news && !links)
		return;
	if (links)
		engine_.followUdev();
	item.news = false;
	Result<std::vector<Path>> paths = engine_.session().paths({{}, item.controller().name});
	if (!paths) {
		item.error = paths.error();
		return;
	}
	if (!hasWanted(*paths, item))
		return;
	if (links && !std::ranges::all_of(*paths, [](const Path &path) { return udevHandled(path.nameSpace); }))
		return;
	item.disks.emplace();
	for (const Path &path : *paths)
		item.disks->push_back(path.nameSpace);
}

/*
 * The tracker has failed: the connect is over. Exception: the "removed" event was about an earlier controller of the
 * same name that was removed just before this one was created. Then the current state replaces events that the tracker
 * ignored meanwhile.
 */
void ConnectWait::takeRemoval(Item &item)
{
	Result<Controller> now = engine_.session().controller(item.controller().name);
	if (now && item.tracker->concerns(*now) && !isEnding(now->state)) {
		item.tracker->again();
		item.tracker->onQuery(now);
	} else {
		item.error = item.tracker->failure();
	}
}

void ConnectWait::advance(Item &item)
{
	if (!item.pending())
		return;
	if (item.tracker->state() == ConnectionTracker::State::failed)
		takeRemoval(item);
	if (item.tracker->state() != ConnectionTracker::State::live) {
		item.asked = false; // after a reconnect, the namespaces may differ
		return;
	}
	if (wait_.wait >= WaitFor::namespaces && !scanned(item))
		return;
	if (!item.error)
		settle(item);
}

bool ConnectWait::advance()
{
	if (cancelled_)
		return true;
	for (Item &item : items_)
		advance(item);
	bool waiting = std::ranges::any_of(items_, [](const Item &item) { return item.pending(); });
	if (waiting && !late() && !streamError_ && !enough())
		return false;
	finish();
	return true;
}

// Require::any: one controller is complete. The grace period lets others finish; a target that does not answer cannot
// prolong it.
bool ConnectWait::enough()
{
	bool one = wait_.require == Require::any &&
		   std::ranges::any_of(items_, [](const Item &item) { return item.disks.has_value(); });
	if (one && enough_ == Clock::time_point::max())
		enough_ = Clock::now() + forOthers;
	return Clock::now() >= enough_;
}

Clock::time_point ConnectWait::wake() const
{
	Clock::time_point next = std::min(deadline_, enough_);
	for (const Item &item : items_) {
		if (!item.pending() || item.tracker->state() != ConnectionTracker::State::live)
			continue;
		if (item.nextScan > Clock::now())
			next = std::min(next, item.nextScan);
		else if (wait_.wait == WaitFor::udev && !item.scan)
			next = std::min(next, Clock::now() + udevInterval);
	}
	return next;
}

void ConnectWait::onEvent(const Event &event)
{
	if (event.type == EventType::synced)
		look();
	for (Item &item : items_) {
		if (!item.pending())
			continue;
		item.tracker->onEvent(event);
		item.news = true;
		if (event.type == EventType::scanned && event.scanErrno &&
		    item.tracker->state() == ConnectionTracker::State::live && event.name() == item.controller().name)
			takeScan(item, errorFromErrno(event.scanErrno, "the scan of its namespaces failed"));
	}
}

void ConnectWait::look()
{
	for (Item &item : items_)
		if (item.pending())
			item.tracker->onQuery(engine_.session().controller(item.controller().name));
}

void ConnectWait::cancel()
{
	cancelled_ = true;
	for (Item &item : items_) {
		if (item.scan)
			engine_.session().forget(item.scan);
		if (item.own && item.pending())
			engine_.add(std::make_shared<RemovalOperation>(
				engine_, std::vector<Controller>{item.controller()}, [](const Removal &) {}));
	}
}

Error ConnectWait::incomplete(const Item &item) const
{
	Error error = streamError_ ? *streamError_ : item.tracker->timeout(wait_.timeout);
	bool live = item.tracker->state() == ConnectionTracker::State::live;
	error.object = ErrorObject::named(item.controller().name);
	error.left = item.controller().state;
	if (!streamError_ && !late()) { // another controller satisfied Require::any
		error.sysErrno = EINPROGRESS;
		error.message =
			live ? "connected, but not all of its namespaces have appeared yet" : "not connected yet";
		return error;
	}
	if (live && !streamError_) {
		bool one = wait_.nsid || wait_.uuid;
		error.message = std::string("connected, but ") +
				(one ? "the requested namespace" : "not all of its namespaces") +
				(wait_.wait == WaitFor::udev ? " or links" : "") +
				(one ? " did not appear in time" : " appeared in time");
	}
	return error;
}

ConnectWait::Outcome ConnectWait::outcome(Item &item)
{
	if (item.scan)
		engine_.session().forget(item.scan);
	if (!item.disks) {
		Error error = item.error ? *item.error : incomplete(item);
		error.made = error.left && item.own;
		return error;
	}
	Result<Controller> now = wait_.wait == WaitFor::none ? Result<Controller>(item.controller())
							     : engine_.session().controller(item.controller().name);
	return Connection{now ? *std::move(now) : item.controller(), *std::move(item.disks), item.own};
}

void ConnectWait::finish()
{
	std::vector<Outcome> results;
	for (Item &item : items_)
		results.push_back(outcome(item));
	done_(std::move(results));
}

} // namespace nofctl
