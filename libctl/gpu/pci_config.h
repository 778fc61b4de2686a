// SPDX-License-Identifier: LGPL-2.1-or-later
// Parses those parts of a PCI configuration space that affect peer-to-peer transfers. The input is untrusted.
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
	unsigned payloadMost = 0; // bytes, Max_Payload_Size Supported
	unsigned payload = 0;     // bytes, Max_Payload_Size in use
	unsigned readRequest = 0; // bytes, Max_Read_Request_Size
	bool relaxedOrdering = false;
	unsigned speedMost = 0, speed = 0; // maximum and current; 1 is 2.5 GT/s, 5 is 32 GT/s; 0: not reported
	unsigned widthMost = 0, width = 0; // maximum and current number of lanes; 0: not reported
};

// Access Control Services; PCI Express Base 5.0, 7.7.8
struct Acs {
	unsigned offset = 0;
	unsigned can = 0, on = 0; // capability and control bits, as below

	enum : unsigned {
		sourceValidation = 0x01,
		translationBlocking = 0x02,
		requestRedirect = 0x04,
		completionRedirect = 0x08,
		upstreamForwarding = 0x10,
		egressControl = 0x20,
		directTranslated = 0x40,
	};
	// Bits that redirect peer-to-peer traffic upstream, as in Linux (pci_bridge_has_acs_redir())
	static constexpr unsigned redirects = requestRedirect | completionRedirect | egressControl;
	bool redirect() const { return on & redirects; }
};

// Resizable BAR; PCI Express Base 5.0, 7.8.6
struct Resizable {
	unsigned bar = 0;
	std::uint64_t max = 0; // bytes, largest supported size
};

struct PciConfig {
	std::size_t length = 0; // bytes read: 64 without CAP_SYS_ADMIN
	unsigned vendor = 0xffff, device = 0xffff;
	unsigned classCode = 0; // 24 bits
	unsigned command = 0;
	bool bridge = false;
	unsigned secondary = 0; // secondary bus number of a bridge
	std::optional<Express> express;
	std::optional<Acs> acs;
	std::vector<Resizable> resizable;

	// Whether capabilities, or also extended capabilities, could be read.
	bool whole() const { return length >= wholeLength; }
	bool extended() const { return length > wholeLength; }

	static constexpr std::size_t wholeLength = 256, extendedLength = 4096;
};

// Members for missing parts keep their defaults. Loops and out-of-bounds pointers in capability lists end the parsing.
PciConfig parsePciConfig(std::string_view bytes);

} // namespace nofctl::gpu
