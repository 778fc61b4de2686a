// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Discovery services that mDNS has found. One that is announced no more stays: a lost multicast, a restart of the
 * announcer or a goodbye by mistake must not cost a connection. It goes when it is asked to be forgotten and does not
 * answer either, or when there is no room for a new one.
 */
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <nvmeof/config.h>
#include <nvmeof/connect.h>

namespace nvmeofd {

struct FoundService {
	nvmeof::ConnectOptions options; // transport, address and NQN
	std::string interface;          // that it was heard on
	bool announced = false;         // now
};

class FoundServices {
public:
	static constexpr std::size_t most = 64;

	// @remembered: from an earlier time
	explicit FoundServices(std::vector<FoundService> remembered);

	// These are announced now, and no others. Returns those that are new.
	std::vector<FoundService> announce(const std::vector<FoundService> &now);
	// What is not announced, and of which @silent says that it does not answer.
	void forget(const std::function<bool(const std::string &key)> &silent);

	const std::vector<FoundService> &all() const { return all_; }
	// By its serviceKey(); null: not found by mDNS
	const FoundService *find(const std::string &key) const;
	// Those that the configuration allows
	std::vector<nvmeof::ConnectOptions> wanted(const nvmeof::Config &config) const;

private:
	bool makeRoom();

	std::vector<FoundService> all_;
};

} // namespace nvmeofd
