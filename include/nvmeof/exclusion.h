// SPDX-License-Identifier: LGPL-2.1-or-later
// Targets that this host must not connect to, regardless of what discovery services report.
#pragma once

#include <string>

#include <nvmeof/connect.h>

namespace nvmeof {

// Matches a connection if all members that are set match. An exclusion without any set member matches nothing.
struct Exclusion {
	std::string transport = {}; // "tcp", "rdma"; compared as text
	std::string traddr = {};
	std::string trsvcid = {};
	std::string nqn = {}; // pattern, see fnmatch(3)
	std::string hostTraddr = {};
	std::string hostIface = {};
	std::string place = {}; // where it is configured, for display: "/etc/nvmeof/nvmeof.toml:12"

	bool covers(const ConnectOptions &options) const;
};

// Canonical form of an address: IPv6 in its shortest form, IPv4-mapped IPv6 as IPv4. A scope is kept. Text that is not
// an address is returned unchanged.
std::string normalTraddr(const std::string &traddr);

} // namespace nvmeof
