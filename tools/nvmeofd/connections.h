// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Makes what is connected into what is wanted. The kernel makes the connections, and repeats them for as long as they
 * are not there; here is only remembered which it does not have any more, and when those are asked for again.
 */
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nvmeof/client.h>
#include <nvmeof/difference.h>
#include <nvmeof/discovery_plan.h>
#include <nvmeof/event.h>

#include "libctl/base/jitter.h"
#include "serving/loop.h"

namespace nvmeofd {

class Connections {
public:
	// Of something that is wanted and was asked for in vain
	struct Attempt {
		nofctl::Backoff backoff{std::chrono::seconds(1), std::chrono::seconds(60)};
		std::chrono::steady_clock::time_point notBefore;
		std::string controller; // that was made for it last
		std::string error;      // why it is not there; empty: nothing went wrong yet
	};

	// @again: something is to be tried now
	Connections(serving::Loop &loop, nvmeof::Client &client, std::function<void()> again);

	void apply(const std::vector<nvmeof::Change> &changes, const std::vector<nvmeof::PlannedConnection> &wanted);
	// Of any controller
	void event(const nvmeof::Event &event);
	// Null: nothing went wrong with it
	const Attempt *attempt(const nvmeof::ConnectOptions &options) const;
	// Controllers that nobody wants, and why each is there all the same
	const std::map<std::string, std::string> &kept() const { return kept_; }
	// Whatever failed is tried at once.
	void forget() { attempts_.clear(); }

private:
	using Attempts = std::map<std::string, Attempt>;

	void connect(const nvmeof::ConnectOptions &options);
	void disconnect(const nvmeof::Change &change);
	void keep(const std::vector<nvmeof::Change> &changes);
	void failed(Attempt &attempt, const std::string &why);

	nvmeof::Client &client_;
	std::function<void()> again_;
	Attempts attempts_;
	std::map<std::string, std::string> kept_;
	serving::Timer retry_;
};

} // namespace nvmeofd
