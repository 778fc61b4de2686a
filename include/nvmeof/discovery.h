// SPDX-License-Identifier: LGPL-2.1-or-later
// What a discovery service tells: which subsystems there are, and where. NVMe Base 2.0, 5.16.1.23.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace nvmeof {

inline constexpr const char *discoveryNqn = "nqn.2014-08.org.nvmexpress.discovery"; // that every service goes by
inline constexpr const char *discoveryPort = "8009";                                // NVMe/TCP, IANA nvme-disc

enum class EntryKind {
	unknown,
	referral,  // to another discovery service
	subsystem, // with namespaces
	service,   // the discovery service itself
};

enum class SecureChannel { notSpecified, required, notRequired };

const char *toString(EntryKind kind);        // "unknown", "referral", "subsystem", "service"
const char *toString(SecureChannel channel); // "not specified", "required", "not required"

// The transport specific address subtype (TSAS) of TCP, SECTYPE; NVMe TCP Transport 1.0, 3.1.1.
enum class TcpSecurity { unknown, none, tls12, tls13 };
const char *toString(TcpSecurity security); // "unknown", "none", "TLS 1.2", "TLS 1.3"

// That of RDMA: RDMA_QPTYPE, RDMA_PRTYPE, RDMA_CMS; NVMe RDMA Transport 1.0, 3.1.1. unknown: a reserved value, as
// targets send it that fill in none.
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
	std::uint16_t partitionKey = 0; // of the family "infiniband" alone
};

// Texts are as the target sent them, without padding: they may have anything in them.
struct DiscoveryEntry {
	EntryKind kind = EntryKind::unknown;
	std::string transport;     // "tcp", "rdma", "fc", "loop"; "type 42" where that is not known
	std::string addressFamily; // "ipv4", "ipv6", "infiniband", "fibre-channel", "loop", "pci"; "family 42"
	std::string traddr;
	std::string trsvcid;
	std::string subsysnqn;
	std::uint16_t portId = 0;
	std::uint16_t cntlid = 0; // ffffh: controllers are made as hosts connect; fffeh: which one does not matter
	std::uint16_t adminQueueSize = 0; // most entries
	SecureChannel secureChannel = SecureChannel::notSpecified;
	bool sqFlowOff = false;                      // the target can do without submission queue flow control
	bool duplicate = false;                      // of a service: tells the same as others so marked
	bool persistent = false;                     // of a service: connections to it may stay
	std::optional<TcpSecurity> tcpSecurity = {}; // of transport "tcp"
	std::optional<RdmaAddress> rdma = {};        // of transport "rdma"
	// Why no host can use it, for a person; empty: nothing is wrong with it.
	std::string defect;
};

struct DiscoveryLog {
	std::uint64_t generation = 0; // moves with every change of the log
	std::vector<DiscoveryEntry> entries;
};

} // namespace nvmeof
