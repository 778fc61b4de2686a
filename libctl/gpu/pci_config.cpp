// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pci_config.h"

#include <linux/pci_regs.h>

namespace nofctl::gpu {

namespace {

constexpr unsigned minPayload = 128;                 // bytes, encoding 0
constexpr unsigned maxCapabilities = (256 - 64) / 4; // that fit without overlap
constexpr unsigned maxExtended = (4096 - 256) / 8;   // that fit without overlap
constexpr std::uint64_t resizableUnit = 1 << 20;     // bytes, size of bit 4 of the capability
constexpr unsigned maxResizable = 6;

class Bytes {
public:
	explicit Bytes(std::string_view bytes) : bytes_(bytes) {}

	bool has(std::size_t at, std::size_t length) const
	{
		return at <= bytes_.size() && length <= bytes_.size() - at;
	}
	// Little-endian; 0 if out of bounds.
	std::uint32_t get(std::size_t at, std::size_t length) const
	{
		std::uint32_t value = 0;
		for (std::size_t i = 0; has(at, length) && i < length; i++)
			value |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes_[at + i])) << (8 * i);
		return value;
	}
	std::uint32_t word(std::size_t at) const { return get(at, 2); }
	std::uint32_t dword(std::size_t at) const { return get(at, 4); }

private:
	std::string_view bytes_;
};

unsigned field(std::uint32_t value, std::uint32_t mask)
{
	return (value & mask) / (mask & -mask);
}

// Encodings above 5 are reserved and treated as 0.
unsigned payloadOf(unsigned code)
{
	constexpr unsigned maxCode = 5;
	return minPayload << (code <= maxCode ? code : 0);
}

Express::Type typeOf(unsigned code)
{
	switch (code) {
	case PCI_EXP_TYPE_ENDPOINT:
	case PCI_EXP_TYPE_LEG_END:
		return Express::Type::endpoint;
	case PCI_EXP_TYPE_ROOT_PORT:
		return Express::Type::rootPort;
	case PCI_EXP_TYPE_UPSTREAM:
		return Express::Type::upstream;
	case PCI_EXP_TYPE_DOWNSTREAM:
		return Express::Type::downstream;
	case PCI_EXP_TYPE_PCI_BRIDGE:
	case PCI_EXP_TYPE_PCIE_BRIDGE:
		return Express::Type::bridge;
	case PCI_EXP_TYPE_RC_END:
		return Express::Type::integrated;
	default:
		return Express::Type::other;
	}
}

Express expressAt(const Bytes &bytes, unsigned at)
{
	const std::uint32_t can = bytes.dword(at + PCI_EXP_DEVCAP), set = bytes.word(at + PCI_EXP_DEVCTL);
	const std::uint32_t linkCan = bytes.dword(at + PCI_EXP_LNKCAP), link = bytes.word(at + PCI_EXP_LNKSTA);
	Express express;
	express.offset = at;
	express.type = typeOf(field(bytes.word(at + PCI_EXP_FLAGS), PCI_EXP_FLAGS_TYPE));
	express.payloadMost = payloadOf(field(can, PCI_EXP_DEVCAP_PAYLOAD));
	express.payload = payloadOf(field(set, PCI_EXP_DEVCTL_PAYLOAD));
	express.readRequest = payloadOf(field(set, PCI_EXP_DEVCTL_READRQ));
	express.relaxedOrdering = set & PCI_EXP_DEVCTL_RELAX_EN;
	express.speedMost = field(linkCan, PCI_EXP_LNKCAP_SLS);
	express.widthMost = field(linkCan, PCI_EXP_LNKCAP_MLW);
	express.speed = field(link, PCI_EXP_LNKSTA_CLS);
	express.width = field(link, PCI_EXP_LNKSTA_NLW);
	return express;
}

void addResizable(PciConfig &config, const Bytes &bytes, unsigned at)
{
	const unsigned count = field(bytes.dword(at + PCI_REBAR_CTRL), PCI_REBAR_CTRL_NBAR_MASK);
	for (unsigned i = 0; i < count && i < maxResizable; i++) {
		const std::uint32_t sizes = bytes.dword(at + 8 * i + PCI_REBAR_CAP) >> 4;
		Resizable one;
		one.bar = field(bytes.dword(at + 8 * i + PCI_REBAR_CTRL), PCI_REBAR_CTRL_BAR_IDX);
		for (unsigned bit = 0; bit < 28; bit++)
			if (sizes >> bit & 1)
				one.max = resizableUnit << bit;
		config.resizable.push_back(one);
	}
}

void readCapabilities(PciConfig &config, const Bytes &bytes)
{
	if (!(bytes.word(PCI_STATUS) & PCI_STATUS_CAP_LIST))
		return;
	unsigned at = bytes.get(PCI_CAPABILITY_LIST, 1) & ~3u;
	for (unsigned seen = 0; at >= PCI_STD_HEADER_SIZEOF && seen < maxCapabilities; seen++) {
		if (!bytes.has(at, PCI_CAP_SIZEOF))
			return;
		if (bytes.get(at, 1) == PCI_CAP_ID_EXP && !config.express && bytes.has(at, PCI_EXP_LNKSTA + 2))
			config.express = expressAt(bytes, at);
		at = bytes.get(at + PCI_CAP_LIST_NEXT, 1) & ~3u;
	}
}

void readExtended(PciConfig &config, const Bytes &bytes)
{
	unsigned at = PciConfig::wholeLength;
	for (unsigned seen = 0; at >= PciConfig::wholeLength && seen < maxExtended && bytes.has(at, 8); seen++) {
		const std::uint32_t head = bytes.dword(at);
		const unsigned id = head & 0xffff;
		if (id == PCI_EXT_CAP_ID_ACS && !config.acs)
			config.acs = Acs{at, bytes.word(at + PCI_ACS_CAP), bytes.word(at + PCI_ACS_CTRL)};
		else if (id == PCI_EXT_CAP_ID_REBAR && config.resizable.empty())
			addResizable(config, bytes, at);
		at = head >> 20 & ~3u;
	}
}

} // namespace

PciConfig parsePciConfig(std::string_view text)
{
	const Bytes bytes(text);
	PciConfig config;
	config.length = text.size();
	if (!bytes.has(0, PCI_STD_HEADER_SIZEOF))
		return config;
	config.vendor = bytes.word(PCI_VENDOR_ID);
	config.device = bytes.word(PCI_DEVICE_ID);
	config.command = bytes.word(PCI_COMMAND);
	config.classCode = bytes.dword(PCI_CLASS_REVISION) >> 8;
	config.bridge = (bytes.get(PCI_HEADER_TYPE, 1) & 0x7f) == PCI_HEADER_TYPE_BRIDGE;
	if (config.bridge)
		config.secondary = bytes.get(PCI_SECONDARY_BUS, 1);
	readCapabilities(config, bytes);
	readExtended(config, bytes);
	return config;
}

} // namespace nofctl::gpu
