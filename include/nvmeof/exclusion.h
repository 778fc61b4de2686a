// SPDX-License-Identifier: LGPL-2.1-or-later
// What this host is not to connect to, whoever tells of it.
#pragma once

#include <string>

#include <nvmeof/connect.h>

namespace nvmeof {

// Covers what has all that is said here; what is empty fits anything. Nothing said covers nothing.
struct Exclusion {
	std::string transport = {}; // "tcp", "rdma"
	std::string traddr = {};
	std::string trsvcid = {};
	std::string nqn = {}; // a pattern as in fnmatch(3)
	std::string hostTraddr = {};
	std::string hostIface = {};
	std::string place = {}; // where it is written, for people: "/etc/nvmeof/nvmeof.toml:12"

	bool covers(const ConnectOptions &options) const;
};

// The address as everybody writes it: IPv6 in its shortest form, IPv4 without its IPv6 cover; a scope stays. What is
// no address stays as it is.
std::string normalTraddr(const std::string &traddr);

} // namespace nvmeof
