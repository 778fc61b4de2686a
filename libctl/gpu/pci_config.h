// SPDX-License-Identifier: LGPL-2.1-or-later
// A device's PCI configuration space, as far as peer-to-peer transfers depend on it. Bytes from a file: trusted no more
// than bytes from a wire.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace nofctl::gpu {

// PCI Express capability; PCI Express Base 5.0, 7.5.3
struct Express {
	enum class Type { endpoint, rootPort, upstream, downstream, bridge, integrated, other };

	Type type = Type::other;
	unsigned offset = 0;
	unsigned payloadMost = 0; // bytes, MaxPayload_Size that the device can
	unsigned payload = 0;     // set
	unsigned readRequest = 0; // bytes, Max_Read_Request_Size
	bool relaxedOrdering = false;
	unsigned speedMost = 0, speed = 0; // generation: 1 is 2.5 GT/s, 5 is 32 GT/s; 0: not told
	unsigned widthMost = 0, width = 0; // lanes; 0: not told
};

// Access Control Services; PCI Express Base 5.0, 7.7.8
struct Acs {
	unsigned offset = 0;
	unsigned can = 0, on = 0; // bits as below

	enum : unsigned {
		sourceValidation = 0x01,
		translationBlocking = 0x02,
		requestRedirect = 0x04,
		completionRedirect = 0x08,
		upstreamForwarding = 0x10,
		egressControl = 0x20,
		directTranslated = 0x40,
	};
	// Those by which peers' traffic is sent up instead of across, as Linux counts them (pci_bridge_has_acs_redir())
	static constexpr unsigned redirects = requestRedirect | completionRedirect | egressControl;
	bool redirect() const { return on & redirects; }
};

// Resizable BAR; PCI Express Base 5.0, 7.8.6
struct Resizable {
	unsigned bar = 0;
	std::uint64_t most = 0; // bytes, the largest size that the device offers
};

struct PciConfig {
	std::size_t length = 0; // bytes that were there: 64 where the reader was not root
	unsigned vendor = 0xffff, device = 0xffff;
	unsigned classCode = 0; // 24 bits
	unsigned command = 0;
	bool bridge = false;
	unsigned secondary = 0; // of a bridge: the bus below
	std::optional<Express> express;
	std::optional<Acs> acs;
	std::vector<Resizable> resizable;

	// Whether capabilities could be seen, and the extended ones.
	bool whole() const { return length >= wholeLength; }
	bool extended() const { return length > wholeLength; }

	static constexpr std::size_t wholeLength = 256, extendedLength = 4096;
};

// What is not there is left as it is; lists of capabilities that loop or lead astray end.
PciConfig parsePciConfig(std::string_view bytes);

} // namespace nofctl::gpu
