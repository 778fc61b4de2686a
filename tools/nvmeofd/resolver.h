// SPDX-License-Identifier: LGPL-2.1-or-later
// Addresses of the hosts that the configuration names. Who cannot be asked now has the addresses that he had.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include <nvmeof/client.h>
#include <nvmeof/config.h>

#include "last_known.h"
#include "libctl/base/jitter.h"
#include "serving/loop.h"

namespace nvmeofd {

class Resolver {
public:
	// @changed: some have other addresses now
	Resolver(serving::Loop &loop, nvmeof::Client &client, KnownAddresses known, std::function<void()> changed);

	// From now on, these and no others; numeric ones are there at once.
	void follow(const std::vector<nvmeof::ConfigTarget> &targets);
	// All are asked for again.
	void refresh();
	// Of one of a target's addresses; empty: not known yet.
	std::vector<nvmeof::Address> of(const nvmeof::ConfigTarget &target, const std::string &text) const;
	const KnownAddresses &known() const { return known_; }
	// Host names that nobody knew, with the resolver's words
	const std::map<std::string, std::string> &failures() const { return failures_; }

private:
	using Asked = nvmeof::Pending<nvmeof::Result<std::vector<nvmeof::Address>>>;

	struct Name {
		std::string text, port;
	};

	void ask(const std::string &key, const Name &name);
	void answered(std::string key);

	nvmeof::Client &client_;
	std::function<void()> changed_;
	KnownAddresses known_;
	std::map<std::string, Name> names_; // by "target.example 8009", as the others are
	std::map<std::string, Asked> asked_;
	std::map<std::string, std::string> failures_;
	nofctl::Backoff backoff_;
	serving::Timer again_;
};

} // namespace nvmeofd
