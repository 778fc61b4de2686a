// SPDX-License-Identifier: LGPL-2.1-or-later
// Addresses of peers, and the number of connections from each
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

// An IPv6 address; IPv4 addresses are mapped
struct Peer {
	std::array<std::uint8_t, 16> bytes{};

	auto operator<=>(const Peer &) const = default;
	static Peer of(const sockaddr_storage &address);
	static std::optional<Peer> parse(const std::string &text); // numeric address
	std::string text() const;
	Peer network() const; // IPv6: the /64, as one host may have any address in it
};

// An address prefix, "10.0.0.0/24", or a single address
struct Prefix {
	Peer first;
	unsigned bits = 0; // of the 128; IPv4 is mapped

	bool operator==(const Prefix &) const = default;
	bool holds(const Peer &peer) const;
	static nvmeof::Result<Prefix> of(std::string_view text);
};

// How many places one address may have, if @taken of @all places are in use: @each; only a few of the last quarter, so
// that some addresses leave room for others, unless @each allows all.
std::size_t shareOf(std::size_t all, std::size_t each, std::size_t taken);

// Counts connections; shared by all workers
class Peers {
public:
	struct Limits {
		std::size_t all = 20000, each = 1024;
	};

	explicit Peers(Limits limits) : limits_(limits) {}

	bool come(const Peer &peer); // false: the limit in all or for this network is reached
	void go(const Peer &peer);

private:
	const Limits limits_;
	std::mutex mutex_;
	std::size_t all_ = 0;
	std::map<Peer, std::size_t> each_;
};

} // namespace cdc
