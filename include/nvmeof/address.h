// SPDX-License-Identifier: LGPL-2.1-or-later
// A fabric address as typed: ADDR, ADDR:PORT, IPv6 bare or [ADDR]:PORT, each with an optional %SCOPE.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nvmeof/result.h>

namespace nvmeof {

struct Address {
	std::string traddr;  // numeric
	std::string trsvcid; // decimal, 1..65535

	bool operator==(const Address &) const = default;
	std::string toString() const; // 10.0.0.1:4420, [fe80::1%eth0]:4420
};

inline constexpr const char *defaultPort = "4420"; // NVMe/TCP and NVMe/RDMA, IANA nvme

// @port is taken when @text has none.
Result<Address> parseAddress(std::string_view text, std::string_view port = defaultPort);

/*
 * The same, or HOST or HOST:PORT with the name of a host: all of its addresses, in the order in which the system
 * prefers them. Asks DNS where the system's configuration says so, and blocks for as long as that takes;
 * Client::startResolve() does not. Errors: invalid; nameResolution, with the resolver's words and Error::object the
 * name.
 */
Result<std::vector<Address>> resolveAddress(std::string_view text, std::string_view port = defaultPort);

// Those of this machine's interfaces, numeric, without scopes; none where the system does not tell.
std::vector<std::string> ownAddresses();

// A numeric IPv4 or IPv6 address without a port.
Result<std::string> parseTraddr(std::string_view text);

// What can be used as an NQN: at most 223 bytes, no blanks or control characters; NVMe Base 2.0, 4.5.
Result<void> checkNqn(std::string_view nqn);
// It begins with "nqn.", as the specification asks for. Some targets have others all the same.
bool conformingNqn(std::string_view nqn);

} // namespace nvmeof
