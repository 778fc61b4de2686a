// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The registration of this host at a discovery service (TP8010): once for each connection, as the service may have
 * forgotten it with the last one. A service that cannot take it now is asked again over the same connection, later each
 * time, and not for ever.
 */
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include <nvmeof/pending.h>
#include <nvmeof/result.h>

#include "libctl/base/jitter.h"
#include "serving/loop.h"

namespace nvmeofd {

class Enrollment {
public:
	// The outcome of one try; false: the service takes no registrations
	using Try = nvmeof::Pending<nvmeof::Result<bool>>;

	struct Limits {
		std::chrono::milliseconds first = std::chrono::seconds(1), most = std::chrono::seconds(60);
		unsigned tries = 12; // of one connection: for six minutes at most
	};

	// @service: its key, for the journal. @ask: begins a try over the connection that is there
	Enrollment(serving::Loop &loop, std::string service, std::function<Try()> ask);
	Enrollment(serving::Loop &loop, std::string service, std::function<Try()> ask, Limits limits);

	void begin(); // unless this connection has begun it before
	void end();   // with the connection

	// Not set: the service takes no registrations, or has not answered yet
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
	serving::Timer again_;
	Try try_;
};

} // namespace nvmeofd
