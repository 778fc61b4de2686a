// SPDX-License-Identifier: LGPL-2.1-or-later
#include "connect_wait.h"

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace nofctl {

using namespace nvmeof;
using namespace std::chrono_literals;

namespace {

constexpr std::chrono::milliseconds lookInterval{500};
constexpr std::chrono::milliseconds pollInterval{5};   // of udev and of scans
constexpr std::chrono::milliseconds scanInterval{500}; // where memory was short, or a disk did not come to rest

// On a socket of its own: one slow target does not hold up the others.
Result<void> rescanAlone(const std::string &name, Clock::time_point deadline)
{
	Result<Session> session = Session::open();
	return session ? session->rescan(name, deadline) : Result<void>(session.error());
}

// The controller is there, and stays.
Error notScanned(const Error &why, const std::string &controller)
{
	Error error = why;
	error.object = ErrorObject::named(controller);
	error.left = ControllerState::live;
	error.message = "connected, but " + why.message;
	return error;
}

std::future<Result<void>> startScan(const std::string &name, Clock::time_point deadline)
{
	try {
		return std::async(std::launch::async, rescanAlone, name, deadline);
	} catch (const std::system_error &) { // no thread
		return std::async(std::launch::deferred, rescanAlone, name, deadline);
	}
}

} // namespace

ConnectWait::ConnectWait(Session &session, WaitFor wait, std::chrono::milliseconds timeout, std::stop_token stop)
	: session_(session), wait_(wait), timeout_(timeout), deadline_(deadlineIn(timeout)), stop_(std::move(stop))
{
}

Result<ConnectWait> ConnectWait::begin(Session &session, WaitFor wait, std::chrono::milliseconds timeout,
				       std::stop_token stop)
{
	ConnectWait waiter(session, wait, timeout, std::move(stop));
	if (wait == WaitFor::none)
		return waiter;
	Result<EventStream> events = EventStream::subscribe();
	if (!events)
		return events.error();
	waiter.events_ = *std::move(events);
	return waiter;
}

void ConnectWait::add(Result<Controller> controller)
{
	Item item;
	if (controller)
		item.tracker.emplace(*std::move(controller));
	else
		item.error = controller.error();
	item.complete = item.tracker && wait_ == WaitFor::none;
	items_.push_back(std::move(item));
}

void ConnectWait::start(const ConnectOptions &options)
{
	Result<Controller> controller = session_.create(options);
	bool there = !controller && controller.error().code == ErrorCode::alreadyConnected &&
		     !controller.error().object.none();
	if (there && options.idempotent)
		controller = session_.controller(controller.error().object.name);
	add(std::move(controller));
}

void ConnectWait::join(const std::string &controller)
{
	add(session_.controller(controller));
}

// The kernel answers a rescan when the scan is over, so this tells even when the controller has no namespace.
bool ConnectWait::scanned(Item &item)
{
	if (item.scanned)
		return true;
	if (!item.scan.valid()) {
		if (Clock::now() < item.nextScan)
			return false;
		item.scan = startScan(item.tracker->controller().name, deadline_);
	}
	if (item.scan.wait_for(items_.size() == 1 ? pollInterval : 0ms) == std::future_status::timeout)
		return false;
	Result<void> done = item.scan.get();
	if (done)
		return item.scanned = true;
	bool gone = done.error().code == ErrorCode::noSuchObject;
	// lost again since, before the scan or in the middle of it: it will reconnect, or go
	if (gone || done.error().sysErrno == ENOTCONN || done.error().sysErrno == ECONNRESET)
		item.tracker->again();
	if (gone)
		item.tracker->onLook(done.error());
	if (item.tracker->state() != ConnectTracker::State::live)
		return false;
	if (done.error().sysErrno == ENOMEM || done.error().sysErrno == EAGAIN)
		item.nextScan = Clock::now() + scanInterval; // and connected all the same
	else if (done.error().code != ErrorCode::timedOut)
		item.error = notScanned(done.error(), item.tracker->controller().name);
	return false;
}

bool ConnectWait::settled(Item &item)
{
	if (!udevRuns())
		return true;
	Result<std::vector<Path>> paths = session_.paths({{}, item.tracker->controller().name});
	if (!paths) {
		item.error = paths.error();
		return false;
	}
	return std::all_of(paths->begin(), paths->end(), [](const Path &path) { return udevHandled(path.nameSpace); });
}

// Whether "removed" was news of an earlier controller of the same name, gone just before this one came.
bool ConnectWait::stillThere(Item &item)
{
	Result<Controller> now = session_.controller(item.tracker->controller().name);
	return now && item.tracker->concerns(*now) && now->state != ControllerState::deleting &&
	       now->state != ControllerState::dead;
}

// As far as it goes without waiting for an event.
void ConnectWait::advance(Item &item)
{
	if (!item.pending())
		return;
	if (item.tracker->state() == ConnectTracker::State::failed) {
		if (stillThere(item))
			item.tracker->again();
		else
			item.error = item.tracker->failure();
	}
	if (item.tracker->state() != ConnectTracker::State::live) {
		item.scanned = false; // what comes back may have other namespaces
		return;
	}
	if (wait_ >= WaitFor::namespaces && !scanned(item))
		return;
	item.complete = wait_ < WaitFor::udev || settled(item);
}

bool ConnectWait::anyPending() const
{
	return std::any_of(items_.begin(), items_.end(), [](const Item &item) { return item.pending(); });
}

Result<void> ConnectWait::pump(Clock::time_point until)
{
	auto left =
		std::chrono::ceil<std::chrono::milliseconds>(std::max(until - Clock::now(), Clock::duration::zero()));
	for (;;) {
		Result<std::optional<Event>> event = events_->next(left);
		if (!event)
			return event.error();
		if (!*event)
			return {};
		for (Item &item : items_)
			if (item.tracker)
				item.tracker->onEvent(**event);
		left = std::chrono::milliseconds::zero(); // the rest of what is there
	}
}

void ConnectWait::look()
{
	for (Item &item : items_)
		if (item.pending())
			item.tracker->onLook(session_.controller(item.tracker->controller().name));
}

Error ConnectWait::incomplete(const Item &item) const
{
	if (deaf_)
		return *deaf_;
	Error error = item.tracker->timeout(timeout_);
	if (item.tracker->state() == ConnectTracker::State::live)
		error.message = "connected, but its namespaces" +
				std::string(wait_ == WaitFor::udev ? " or links" : "") + " were not all there in time";
	return error;
}

Result<Controller> ConnectWait::outcome(Item &item)
{
	if (item.error)
		return *item.error;
	if (!item.complete)
		return incomplete(item);
	Result<Controller> now = session_.controller(item.tracker->controller().name);
	return now ? now : Result<Controller>(item.tracker->controller());
}

std::vector<Result<Controller>> ConnectWait::finish()
{
	Clock::time_point nextLook = Clock::now() + lookInterval;
	for (;;) {
		for (Item &item : items_)
			advance(item);
		if (!anyPending() || Clock::now() >= deadline_ || stop_.stop_requested())
			break;
		Clock::time_point until = std::min(deadline_, nextLook);
		bool live = std::any_of(items_.begin(), items_.end(), [](const Item &item) {
			return item.pending() && item.tracker->state() == ConnectTracker::State::live;
		});
		if (live) // a scan or udev is waited for, which send us no event
			until = std::min(until, Clock::now() + pollInterval);
		if (Result<void> pumped = pump(until); !pumped) {
			deaf_ = pumped.error();
			break;
		}
		if (Clock::now() < nextLook)
			continue;
		look();
		nextLook = Clock::now() + lookInterval;
	}
	std::vector<Result<Controller>> results;
	for (Item &item : items_)
		results.push_back(outcome(item));
	return results;
}

} // namespace nofctl
