// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Discovery services found by mDNS. A service that is no longer announced stays: a lost multicast, a restart of the
 * announcer or an accidental goodbye must not cost a connection. It is removed by forget() if it does not answer
 * either, or when a new service needs its place.
 */
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <nvmeof/config.h>
#include <nvmeof/connect.h>

namespace nvmeofd {

struct MdnsService {
	nvmeof::ConnectOptions options; // transport, address and NQN
	std::string interface;          // on which it was announced
	bool announced = false;         // at present
};

class MdnsServices {
public:
	static constexpr std::size_t max = 64;

	// @remembered: from the last-known file
	explicit MdnsServices(std::vector<MdnsService> remembered);

	// Sets the services that are announced now. Returns the new ones.
	std::vector<MdnsService> announce(const std::vector<MdnsService> &now);
	// Removes services that are not announced and for which @silent returns true.
	void forget(const std::function<bool(const std::string &key)> &silent);

	const std::vector<MdnsService> &all() const { return all_; }
	// By serviceKey(); null: not found by mDNS
	const MdnsService *find(const std::string &key) const;
	// Services that the configuration allows
	std::vector<nvmeof::ConnectOptions> wanted(const nvmeof::Config &config) const;

private:
	bool makeRoom();

	std::vector<MdnsService> all_;
};

} // namespace nvmeofd
