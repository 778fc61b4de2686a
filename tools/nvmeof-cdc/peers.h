// SPDX-License-Identifier: LGPL-2.1-or-later
// How many connections there are from where.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include <sys/socket.h>

namespace cdc {

// An address: IPv6, or IPv4 as IPv6 has it
struct Peer {
	std::array<std::uint8_t, 16> bytes{};

	auto operator<=>(const Peer &) const = default;
	static Peer of(const sockaddr_storage &address);
	std::string text() const;
	Peer network() const; // of IPv6 addresses /64: one host's, who may have any of them
};

// All workers'
class Peers {
public:
	struct Limits {
		std::size_t all = 20000, each = 1024;
	};

	explicit Peers(Limits limits) : limits_(limits) {}

	bool come(const Peer &peer); // false: there are too many
	void go(const Peer &peer);

private:
	const Limits limits_;
	std::mutex mutex_;
	std::size_t all_ = 0;
	std::map<Peer, std::size_t> each_;
};

} // namespace cdc
