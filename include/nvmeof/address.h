// SPDX-License-Identifier: LGPL-2.1-or-later
// A fabric address as a user types it: ADDR, ADDR:PORT, bare IPv6 or [IPv6]:PORT, each with an optional %SCOPE.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nvmeof/result.h>

namespace nvmeof {

struct Address {
	std::string traddr;  // numeric IPv4 or IPv6, with an optional %SCOPE
	std::string trsvcid; // decimal, 1..65535

	bool operator==(const Address &) const = default;
	std::string toString() const; // 10.0.0.1:4420, [fe80::1%eth0]:4420
};

inline constexpr const char *defaultPort = "4420"; // IANA service nvme: NVMe/TCP and NVMe/RDMA

// @port is used if @text has no port. Errors: invalid.
Result<Address> parseAddress(std::string_view text, std::string_view port = defaultPort);

/*
 * Like parseAddress(), but also accepts HOST and HOST:PORT with a host name. Returns all addresses of the host, in the
 * order that getaddrinfo(3) returns. Blocks while the system resolves the name, for example by DNS;
 * Client::startResolve() does not block. Errors: invalid; nameResolution, with the resolver's message and the name in
 * Error::object.
 */
Result<std::vector<Address>> resolveAddress(std::string_view text, std::string_view port = defaultPort);

// Numeric addresses of this machine's interfaces, without scopes. Empty if getifaddrs(3) fails.
std::vector<std::string> ownAddresses();

// Checks a numeric IPv4 or IPv6 address without a port and returns it. Errors: invalid.
Result<std::string> parseTraddr(std::string_view text);

// Checks that @nqn can be used as an NQN: 1 to 223 bytes, no blanks or control characters; NVMe Base 2.0, 4.5. Errors:
// invalid.
Result<void> checkNqn(std::string_view nqn);
// Whether @nqn begins with "nqn.", as NVMe Base 2.0, 4.5 requires. Some targets use other names.
bool conformingNqn(std::string_view nqn);

} // namespace nvmeof
