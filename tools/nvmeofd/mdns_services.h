// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Discovery services found by mDNS. A service that is no longer announced stays: a lost multicast, a restart of the
 * announcer or an accidental goodbye must not cost a connection. It is removed by forget() if it does not answer
 * either, or when a new service needs the place of one that does not answer.
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

	// @remembered, @displaced: from the last-known file
	explicit MdnsServices(std::vector<MdnsService> remembered, bool displaced = false);

	// Whether a service does not answer
	using Silent = std::function<bool(const std::string &key)>;

	// Sets the services that are announced now. Returns the new ones.
	std::vector<MdnsService> announce(const std::vector<MdnsService> &now, const Silent &silent);
	// Removes silent services that are not announced.
	void forget(const Silent &silent);
	// Number of announced services beyond the limit
	std::size_t refused() const { return refused_; }
	// Whether services were displaced since forget()
	bool displaced() const { return displaced_; }
	// Whether services are missing for lack of room: announced services beyond the limit, or services displaced
	// since forget()
	bool incomplete() const { return refused_ || displaced_; }

	const std::vector<MdnsService> &all() const { return all_; }
	// By serviceKey(); null: not found by mDNS
	const MdnsService *find(const std::string &key) const;
	// Services that the configuration allows
	std::vector<nvmeof::ConnectOptions> wanted(const nvmeof::Config &config) const;

private:
	bool makeRoom(const Silent &silent);

	std::vector<MdnsService> all_;
	std::size_t refused_ = 0;
	bool displaced_ = false;
};

} // namespace nvmeofd
