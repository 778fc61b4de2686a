// SPDX-License-Identifier: LGPL-2.1-or-later
// What has become of one connect, judged by events and by looking.
#pragma once

#include <optional>
#include <string>

#include <nvmeof/controller.h>
#include <nvmeof/event.h>
#include <nvmeof/result.h>

namespace nofctl {

/*
 * live while the controller was seen in that state last, failed when it is gone. Failed attempts are
 * remembered: the last one is the reason when the controller goes away, or when the time is over.
 */
class ConnectTracker {
public:
	enum class State { pending, live, failed };

	explicit ConnectTracker(nvmeof::Controller controller);

	void onEvent(const nvmeof::Event &event);
	// The answer to CTRL_GET.
	void onLook(const nvmeof::Result<nvmeof::Controller> &look);
	// It was live, but is not any more: wait on.
	void again() { state_ = State::pending; }

	// Of this one, not of another that has its name by now.
	bool concerns(const nvmeof::Controller &now) const;

	State state() const { return state_; }
	const nvmeof::Controller &controller() const { return controller_; }

	nvmeof::Error failure() const;
	// For a controller that is still pending when the time is over.
	nvmeof::Error timeout(std::chrono::milliseconds waited) const;

private:
	void learn(const nvmeof::Controller &now);
	void gone();

	nvmeof::Controller controller_;
	State state_ = State::pending;
	std::optional<nvmeof::Error> attempt_; // why the last attempt failed
};

// The Error that a controller's LAST_* attributes amount to; nothing when they are empty.
std::optional<nvmeof::Error> lastErrorOf(const nvmeof::Controller &controller);

} // namespace nofctl
