// SPDX-License-Identifier: LGPL-2.1-or-later
// The discovery log page of a discovery service: subsystems and their addresses. NVMe Base 2.0, 5.16.1.23.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace nvmeof {

inline constexpr const char *discoveryNqn = "nqn.2014-08.org.nvmexpress.discovery"; // well-known NQN
inline constexpr const char *discoveryPort = "8009";                                // IANA service nvme-disc, NVMe/TCP

enum class EntryKind {
	unknown,
	referral,  // to another discovery service
	subsystem, // an NVM subsystem
	service,   // the discovery service itself
};

enum class SecureChannel { notSpecified, required, notRequired };

const char *toString(EntryKind kind);        // "unknown", "referral", "subsystem", "service"
const char *toString(SecureChannel channel); // "not specified", "required", "not required"

// The transport specific address subtype (TSAS) of TCP, SECTYPE; NVMe TCP Transport 1.0, 3.1.1.
enum class TcpSecurity { unknown, none, tls12, tls13 };
const char *toString(TcpSecurity security); // "unknown", "none", "TLS 1.2", "TLS 1.3"

// The transport specific address subtype (TSAS) of RDMA: RDMA_QPTYPE, RDMA_PRTYPE, RDMA_CMS; NVMe RDMA Transport 1.0,
// 3.1.1. unknown: a reserved value; some targets leave these fields zero.
enum class RdmaQueuePair { unknown, connected, datagram };
enum class RdmaProvider { unknown, notSpecified, infiniband, roce, roceV2, iwarp };
enum class RdmaConnectionManagement { unknown, rdmaCm };
const char *toString(RdmaQueuePair type);    // "unknown", "reliable connected", "reliable datagram"
const char *toString(RdmaProvider provider); // "unknown", "not specified", "InfiniBand", "RoCE", "RoCEv2", "iWARP"
const char *toString(RdmaConnectionManagement service); // "unknown", "RDMA_CM"

struct RdmaAddress {
	RdmaQueuePair queuePair = RdmaQueuePair::unknown;
	RdmaProvider provider = RdmaProvider::unknown;
	RdmaConnectionManagement connectionManagement = RdmaConnectionManagement::unknown;
	std::uint16_t partitionKey = 0; // for the address family "infiniband" only
};

// Strings are as the target sent them, without padding. They may contain any bytes.
struct DiscoveryEntry {
	EntryKind kind = EntryKind::unknown;
	std::string transport;     // "tcp", "rdma", "fc", "loop"; otherwise "type 42"
	std::string addressFamily; // "ipv4", "ipv6", "infiniband", "fibre-channel", "loop", "pci"; or "family 42"
	std::string traddr;
	std::string trsvcid;
	std::string subsysnqn;
	std::uint16_t portId = 0;
	std::uint16_t cntlid = 0;         // ffffh: dynamic controller model; fffeh: static, any controller
	std::uint16_t adminQueueSize = 0; // ASQSZ, maximum number of entries
	SecureChannel secureChannel = SecureChannel::notSpecified;
	bool sqFlowOff = false;                      // the target can disable SQ flow control
	bool duplicate = false;                      // of a service: same log as others with this flag (DUPRETINFO)
	bool persistent = false;                     // of a service: supports persistent connections (EPCSD)
	std::optional<TcpSecurity> tcpSecurity = {}; // for transport "tcp"
	std::optional<RdmaAddress> rdma = {};        // for transport "rdma"
	// Why no host can use the entry, for display; empty: the entry is valid.
	std::string defect;
};

struct DiscoveryLog {
	std::uint64_t generation = 0; // GENCTR: changes with every change of the log
	std::vector<DiscoveryEntry> entries;
};

} // namespace nvmeof
