// SPDX-License-Identifier: LGPL-2.1-or-later
// Resolves the host names in the configuration. While a name cannot be resolved, its previous addresses are used.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include <nvmeof/client.h>
#include <nvmeof/config.h>

#include "last_known.h"
#include "libctl/base/jitter.h"
#include "libctl/runtime/loop.h"

namespace nvmeofd {

class Resolver {
public:
	// @changed: called when the addresses of a name have changed
	Resolver(runtime::Loop &loop, nvmeof::Client &client, KnownAddresses known, std::function<void()> changed);

	// Resolves the names in @targets from now on; numeric addresses are available at once.
	void follow(const std::vector<nvmeof::ConfigTarget> &targets);
	// Resolves all names again.
	void refresh();
	// Addresses for one address text of a target; empty: not known yet
	std::vector<nvmeof::Address> of(const nvmeof::ConfigTarget &target, const std::string &text) const;
	const KnownAddresses &known() const { return known_; }
	// Host names that could not be resolved, with the resolver's message
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
	std::map<std::string, Name> names_; // by "target.example 8009", like the maps below
	std::map<std::string, Asked> asked_;
	std::map<std::string, std::string> failures_;
	nofctl::Backoff backoff_;
	runtime::Timer again_;
};

} // namespace nvmeofd
