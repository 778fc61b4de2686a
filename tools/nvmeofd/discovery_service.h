// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * One discovery service, with a discovery controller in the kernel that holds the connection, reconnects it without
 * limit, and reports changes of the log. A service that refuses a persistent connection is polled.
 */
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include <nvmeof/client.h>
#include <nvmeof/discovery_plan.h>
#include <nvmeof/event.h>

#include "host_registration.h"
#include "libctl/base/jitter.h"
#include "libctl/runtime/loop.h"

namespace nvmeofd {

/*
 * When services may be connected again. The entries of a log and mDNS records may alternate, as may their options: each
 * time, the service is connected after a longer delay.
 */
class Restarts {
public:
	using Clock = std::chrono::steady_clock;
	static constexpr std::size_t max = 4096;         // services
	static constexpr std::chrono::minutes memory{2}; // a service that was not stopped for longer starts anew

	// The service was stopped. It may be started again at once, with the remaining delay.
	void stopped(const std::string &key, Clock::time_point now);
	// Time until it may be connected
	std::chrono::milliseconds delay(const std::string &key, Clock::time_point now) const;
	std::size_t size() const { return services_.size(); }
	void forget() { services_.clear(); }

private:
	struct Service {
		nofctl::Backoff backoff{std::chrono::seconds(1), std::chrono::seconds(60)};
		Clock::time_point notBefore;
	};
	std::map<std::string, Service> services_;
};

class DiscoveryService {
public:
	enum class State {
		waiting,    // waits for the next attempt
		connecting, // by the kernel
		reading,
		watching, // the log is known, and changes are reported by events
		polling,  // the log is known, and is read periodically
	};

	// Callbacks; called from the event loop at any time.
	struct Callbacks {
		std::function<nvmeof::Result<void>(nvmeof::DiscoveryLog log)> told; // error: it is not used
		std::function<void()> failed;
	};

	// @hold: whether to keep a connection; absent: unless the service refuses
	DiscoveryService(runtime::Loop &loop, nvmeof::Client &client, nvmeof::PlannedService planned,
			 std::optional<bool> hold, Callbacks callbacks);

	// Connects after @delay.
	void begin(std::chrono::milliseconds delay = {});
	// Whether it was made with these options: other ones need another object, and another connection.
	bool serves(const nvmeof::PlannedService &planned, std::optional<bool> hold) const;
	// For events of all controllers
	void event(const nvmeof::Event &event);
	void readSoon();
	// The service is no longer needed: disconnects its controller, unless another program has made it.
	void leave();
	// The daemon exits: the controller stays, and a pending command is cut off by a reset.
	void abandon();

	State state() const { return state_; }
	const std::string &key() const { return planned_.key; }
	const nvmeof::ConnectOptions &wanted() const { return planned_.options; } // as planned when it was made
	const std::string &controller() const { return controller_; }             // empty: none
	const std::string &lastError() const { return lastError_; }               // empty: the last read succeeded
	// Absent: the service takes no registrations, or has not answered yet
	std::optional<bool> registered() const { return registration_.registered(); }
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
	void missing();
	nvmeof::Result<nvmeof::Controller> present();
	nvmeof::ConnectOptions options() const;
	std::chrono::milliseconds untilNextRead();

	nvmeof::Client &client_;
	nvmeof::PlannedService planned_;
	Callbacks callbacks_;
	std::optional<bool> hold_;
	bool persistent_;
	State state_ = State::waiting;
	std::string controller_;
	std::string lastError_;
	bool readAgain_ = false; // an event came during the read
	std::optional<std::chrono::steady_clock::time_point> readAt_;
	std::uint64_t reads_ = 0;
	std::deque<std::chrono::steady_clock::time_point> recent_; // reads within the last second
	nofctl::Backoff backoff_;
	bool readFailed_ = false; // the last one
	runtime::Timer retry_;    // of the connect or read
	runtime::Timer readTimer_;
	nvmeof::Pending<nvmeof::Result<nvmeof::DiscoveryLog>> pending_;
	HostRegistration registration_;
};

const char *toString(DiscoveryService::State state);

} // namespace nvmeofd
