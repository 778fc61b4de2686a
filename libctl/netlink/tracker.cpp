// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tracker.h"

#include <cerrno>
#include <cstdio>

#include "status.h"

namespace nofctl {

using nvmeof::Controller;
using nvmeof::ControllerState;
using nvmeof::Error;
using nvmeof::ErrorCode;
using nvmeof::EventType;

namespace {

std::string seconds(std::chrono::milliseconds time)
{
	char text[32];
	std::snprintf(text, sizeof(text), "%g s", static_cast<double>(time.count()) / 1000);
	return text;
}

// The error for the LAST_* attributes; nothing if they are empty
std::optional<Error> lastErrorOf(const Controller &controller)
{
	if (controller.lastError.empty() && !controller.lastErrno && !controller.lastStatus)
		return std::nullopt;
	Error error;
	error.sysErrno = controller.lastErrno;
	error.nvmeStatus = controller.lastStatus;
	error.message = error.nvmeStatus ? controller.lastError
					 : nvmeof::describeFailure(controller.lastError, controller.lastErrno);
	error.object = nvmeof::ErrorObject::named(controller.name);
	if (error.nvmeStatus)
		error.code = nofctl::codeOfStatus(*error.nvmeStatus);
	else
		error.code = nvmeof::connectCodeOf(error.sysErrno);
	if (error.message.empty())
		error.message = "the target refused";
	constexpr const char *noMemory = "out of memory"; // for ENOMEM, lastError names the failed step only
	if (error.nvmeStatus)
		error.message += ": " + nvmeof::describeStatus(*error.nvmeStatus);
	else if (error.sysErrno == ENOMEM && error.message.find(noMemory) == std::string::npos)
		error.message += std::string(": ") + noMemory;
	return error;
}

} // namespace

ConnectionTracker::ConnectionTracker(Controller controller) : controller_(std::move(controller))
{
	learn(Controller(controller_));
}

void ConnectionTracker::learn(const Controller &now)
{
	controller_ = now;
	if (now.state == ControllerState::live)
		state_ = State::live;
	else if (now.state == ControllerState::dead)
		gone();
	else
		state_ = State::pending;
}

bool ConnectionTracker::concerns(const Controller &now) const
{
	return now.name == controller_.name && now.subsysnqn == controller_.subsysnqn &&
	       now.traddr == controller_.traddr && now.trsvcid == controller_.trsvcid &&
	       now.hostTraddr == controller_.hostTraddr && now.hostIface == controller_.hostIface;
}

void ConnectionTracker::gone()
{
	state_ = State::failed;
}

void ConnectionTracker::onEvent(const nvmeof::Event &event)
{
	const Controller *now = event.controller();
	if (!now || now->name != controller_.name || state_ == State::failed)
		return;
	if (!concerns(*now)) // an earlier or later controller of that name
		return;
	if (event.type == EventType::connectFailed)
		attempt_ = lastErrorOf(*now);
	learn(*now);
	if (event.type == EventType::removed)
		gone();
}

void ConnectionTracker::onQuery(const nvmeof::Result<Controller> &look)
{
	if (state_ == State::failed)
		return;
	if (look && concerns(*look))
		learn(*look);
	else if (look || look.error().code == ErrorCode::noSuchObject) // gone; the name may be reused
		gone();
}

Error ConnectionTracker::failure() const
{
	if (attempt_)
		return *attempt_;
	if (std::optional<Error> last = lastErrorOf(controller_))
		return *last;
	Error error;
	error.message = "the controller was removed while it was connecting";
	error.object = nvmeof::ErrorObject::named(controller_.name);
	return error;
}

Error ConnectionTracker::timeout(std::chrono::milliseconds waited) const
{
	Error error = nvmeof::errorFromErrno(ETIMEDOUT, "not connected after " + seconds(waited));
	error.object = nvmeof::ErrorObject::named(controller_.name);
	error.left = controller_.state;
	std::optional<Error> last = attempt_ ? attempt_ : lastErrorOf(controller_);
	if (last)
		error.message += " (last attempt: " + last->message + ")";
	return error;
}

} // namespace nofctl
