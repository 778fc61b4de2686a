// SPDX-License-Identifier: LGPL-2.1-or-later
// How many connections there are from where.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include <nvmeof/result.h>
#include <sys/socket.h>

namespace cdc {

// An address: IPv6, or IPv4 as IPv6 has it
struct Peer {
	std::array<std::uint8_t, 16> bytes{};

	auto operator<=>(const Peer &) const = default;
	static Peer of(const sockaddr_storage &address);
	static std::optional<Peer> parse(const std::string &text); // of a numeric address
	std::string text() const;
	Peer network() const; // of IPv6 addresses /64: one host's, who may have any of them
};

// Addresses that begin alike, "10.0.0.0/24"; one address without a length
struct Prefix {
	Peer first;
	unsigned bits = 0; // of the 128

	bool operator==(const Prefix &) const = default;
	bool holds(const Peer &peer) const;
	static nvmeof::Result<Prefix> of(std::string_view text);
};

// Of @all places, of which @taken are taken, what one address may have: @each; but few of the last quarter, so that
// some addresses leave room for others, unless one may have all.
std::size_t shareOf(std::size_t all, std::size_t each, std::size_t taken);

// All workers'
class Peers {
public:
	struct Limits {
		std::size_t all = 20000, each = 1024;
	};

	explicit Peers(Limits limits) : limits_(limits) {}

	bool come(const Peer &peer); // false: there are too many, in all or from there
	void go(const Peer &peer);

private:
	const Limits limits_;
	std::mutex mutex_;
	std::size_t all_ = 0;
	std::map<Peer, std::size_t> each_;
};

} // namespace cdc
