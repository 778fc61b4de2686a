// SPDX-License-Identifier: LGPL-2.1-or-later
// The mDNS announcement of a discovery service: NVMe TP8009. Its contents are not trusted.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nvmeof/connect.h>
#include <nvmeof/result.h>

namespace nvmeofd {

inline constexpr const char *mdnsTcp = "_nvme-disc._tcp"; // TCP, unless p= differs
inline constexpr const char *mdnsUdp = "_nvme-disc._udp"; // RDMA: RoCE v2 uses UDP

struct MdnsRecord {
	std::string type;              // one of the above
	std::string interface;         // receiving interface: the scope of link-local addresses
	std::string address;           // numeric
	std::uint16_t port = 0;        // SRV
	std::vector<std::string> text; // TXT: "p=tcp", "nqn=..."; keys are case-insensitive
};

// How to connect. Error invalid: malformed, or an unknown transport
nvmeof::Result<nvmeof::ConnectOptions> serviceOf(const MdnsRecord &record);

} // namespace nvmeofd
