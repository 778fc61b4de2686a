// SPDX-License-Identifier: LGPL-2.1-or-later
// What a discovery service says of itself by mDNS: NVMe TP8009. Anybody in the network may say anything.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nvmeof/connect.h>
#include <nvmeof/result.h>

namespace nvmeofd {

inline constexpr const char *mdnsTcp = "_nvme-disc._tcp"; // TCP, unless p= says otherwise
inline constexpr const char *mdnsUdp = "_nvme-disc._udp"; // RDMA, which RoCE v2 carries in UDP

struct MdnsRecord {
	std::string type;              // one of the above
	std::string interface;         // that it was heard on: the scope of link-local addresses
	std::string address;           // numeric
	std::uint16_t port = 0;        // SRV
	std::vector<std::string> text; // TXT: "p=tcp", "nqn=..."; the case of keys does not matter
};

// How to reach it. invalid: not to be understood, or for a transport that is not known here
nvmeof::Result<nvmeof::ConnectOptions> serviceOf(const MdnsRecord &record);

} // namespace nvmeofd
