// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * One discovery service: a discovery controller in the kernel, which keeps the connection, repeats it for ever, and
 * tells when the log has changed. A service that refuses to be kept is asked now and then.
 */
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <optional>
#include <string>

#include <nvmeof/client.h>
#include <nvmeof/discovery_plan.h>
#include <nvmeof/event.h>

#include "enrollment.h"
#include "libctl/base/jitter.h"
#include "serving/loop.h"

namespace nvmeofd {

class Service {
public:
	enum class State {
		waiting,    // for the next attempt
		connecting, // by the kernel
		reading,
		watching, // its log is known, and it tells of changes
		polling,  // its log is known, and is read again now and then
	};

	// What it is to tell of; each may come at any time of the loop.
	struct News {
		std::function<void(nvmeof::DiscoveryLog log)> told;
		std::function<void()> failed;
	};

	// @hold: a connection, whatever it says of itself; not set: unless it refuses
	Service(serving::Loop &loop, nvmeof::Client &client, nvmeof::PlannedService planned, std::optional<bool> hold,
		News news);

	void begin();
	// Of any controller
	void event(const nvmeof::Event &event);
	void readSoon();
	// Nobody needs it any more: its controller goes.
	void leave();
	// The daemon ends: its controller stays, and a command that it does not answer is not waited for.
	void abandon();

	State state() const { return state_; }
	const std::string &key() const { return planned_.key; }
	const std::string &controller() const { return controller_; } // empty: none
	const std::string &lastError() const { return lastError_; }   // empty since it was read last
	// This host is registered there; not set: the service takes no registrations, or has not been asked yet
	std::optional<bool> registered() const { return enrollment_.registered(); }
	std::optional<std::chrono::steady_clock::time_point> readAt() const { return readAt_; }
	std::uint64_t reads() const { return reads_; }

private:
	void connect();
	void adopt(const nvmeof::Controller &controller);
	void changed();
	void readIfLive();
	void read();
	void got(nvmeof::Result<nvmeof::DiscoveryLog> log);
	void disconnected();
	void fail(const nvmeof::Error &error);
	void retryLater();
	void controllerEvent(const nvmeof::Event &event);
	void gone(const nvmeof::Controller &controller);
	nvmeof::ConnectOptions options() const;
	std::chrono::milliseconds untilNextRead();

	nvmeof::Client &client_;
	nvmeof::PlannedService planned_;
	News news_;
	bool hold_;
	bool mayPoll_;
	State state_ = State::waiting;
	std::string controller_;
	std::string lastError_;
	bool again_ = false; // it has changed while it was read
	std::optional<std::chrono::steady_clock::time_point> readAt_;
	std::uint64_t reads_ = 0;
	std::deque<std::chrono::steady_clock::time_point> recent_; // reads of the last second
	nofctl::Backoff backoff_;
	serving::Timer retry_; // connect, or read, again
	serving::Timer readTimer_;
	nvmeof::Pending<nvmeof::Result<nvmeof::DiscoveryLog>> pending_;
	Enrollment enrollment_;
};

const char *toString(Service::State state);

} // namespace nvmeofd
