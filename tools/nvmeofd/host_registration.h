// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Registers this host with a discovery service (TP8010), once per connection, as the service may have dropped the
 * registration with the last one. If the service cannot take it at present, the registration is retried over the same
 * connection, with back-off and a limit.
 */
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include <nvmeof/pending.h>
#include <nvmeof/result.h>

#include "libctl/base/jitter.h"
#include "libctl/runtime/loop.h"

namespace nvmeofd {

class HostRegistration {
public:
	// The result of one attempt; false: the service takes no registrations
	using Try = nvmeof::Pending<nvmeof::Result<bool>>;

	struct Limits {
		std::chrono::milliseconds first = std::chrono::seconds(1), max = std::chrono::seconds(60);
		unsigned tries = 12; // per connection: at most six minutes
	};

	// @service: its key, for the log. @ask: starts an attempt over the current connection
	HostRegistration(runtime::Loop &loop, std::string service, std::function<Try()> ask);
	HostRegistration(runtime::Loop &loop, std::string service, std::function<Try()> ask, Limits limits);

	void begin(); // once per connection
	void end();   // when the connection ends

	// Absent: the service takes no registrations, or has not answered yet
	std::optional<bool> registered() const { return registered_; }

private:
	void ask();
	void answered(const nvmeof::Result<bool> &outcome);
	void refused(const nvmeof::Error &error);

	const std::string service_;
	const std::function<Try()> ask_;
	const Limits limits_;
	bool begun_ = false;
	unsigned tries_ = 0;
	std::optional<bool> registered_;
	nofctl::Backoff backoff_;
	runtime::Timer again_;
	Try try_;
};

} // namespace nvmeofd
