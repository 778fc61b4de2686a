// SPDX-License-Identifier: LGPL-2.1-or-later
// Outcome of one connect, derived from events and queries.
#pragma once

#include <optional>
#include <string>

#include <nvmeof/controller.h>
#include <nvmeof/event.h>
#include <nvmeof/result.h>

namespace nofctl {

// live: the controller was last seen in that state; failed: it is gone. The error of the last failed attempt is kept:
// it is the reason reported when the controller is removed or the wait times out.
class ConnectionTracker {
public:
	enum class State { pending, live, failed };

	explicit ConnectionTracker(nvmeof::Controller controller);

	void onEvent(const nvmeof::Event &event);
	// @look: the answer to CTRL_GET.
	void onQuery(const nvmeof::Result<nvmeof::Controller> &look);
	// The controller is no longer live: wait for the reconnect.
	void again() { state_ = State::pending; }

	// Whether @now is this controller, not another one that has reused its name.
	bool concerns(const nvmeof::Controller &now) const;

	State state() const { return state_; }
	const nvmeof::Controller &controller() const { return controller_; }

	nvmeof::Error failure() const;
	// The error for a controller that is still pending when the wait times out.
	nvmeof::Error timeout(std::chrono::milliseconds waited) const;

private:
	void learn(const nvmeof::Controller &now);
	void gone();

	nvmeof::Controller controller_;
	State state_ = State::pending;
	std::optional<nvmeof::Error> attempt_; // error of the last attempt
};

} // namespace nofctl
