// SPDX-License-Identifier: LGPL-2.1-or-later
#include "peer_table.h"

#include <algorithm>
#include <cstdlib>

namespace nofctl::gpu {

namespace {

constexpr auto pass = Level::pass, warn = Level::warn, fail = Level::fail;
constexpr std::optional<bool> any, yes = true, no = false;

constexpr const char *linux612 = "Linux 6.12, drivers/pci/p2pdma.c: calc_map_type_and_dist()";
constexpr const char *linuxList = "Linux 6.12, drivers/pci/p2pdma.c: pci_p2pdma_whitelist, cpu_supports_p2pdma()";
constexpr const char *acsGuide = "NVIDIA GPUDirect Storage Best Practices Guide, System Settings: ACS; "
				 "Linux 6.12, drivers/pci/p2pdma.c: pci_bridge_has_acs_redir()";
constexpr const char *peerIommuGuide = "NVIDIA GPUDirect Storage Installation Guide, Before You Install: IOMMU; "
				       "Linux 6.12, drivers/iommu/dma-iommu.c: iommu_dma_map_sg()";
constexpr const char *switchGuide = "NVIDIA AI Enterprise, Validate PCI Switch System Topology; "
				    "Linux 6.12, drivers/pci/p2pdma.c: pci_p2pdma_whitelist";
constexpr const char *socketGuide = "NVIDIA GPUDirect Storage Design Guide, Paths from Storage to GPUs; "
				    "Linux 6.12, drivers/pci/p2pdma.c: pci_p2pdma_whitelist";

constexpr const char *acsStep = "clear the redirect bits of the bridges named";
constexpr const char *iommuStep = "boot with iommu=pt, or with the IOMMU off";
constexpr const char *moveStep =
	"move one of the cards to a slot of the other card's switch, or use another NIC for the GPU";

constexpr PeerRow table[] = {
	{"same-device", Distance::same, Distance::same, any, any, any, pass, pass, "functions of one device", "",
	 linux612},
	{"switch-acs-unknown-root", Distance::pix, Distance::pxb, yes, any, no, fail, fail,
	 "ACS redirects peer-to-peer traffic to the root complex, which Linux does not know to forward it", acsStep,
	 acsGuide},
	{"switch-acs-translated", Distance::pix, Distance::pxb, yes, yes, yes, fail, fail,
	 "ACS redirects peer-to-peer traffic through the root complex and the IOMMU instead of the switch", acsStep,
	 acsGuide},
	{"switch-acs", Distance::pix, Distance::pxb, yes, no, yes, fail, fail,
	 "ACS redirects peer-to-peer traffic through the root complex instead of the switch", acsStep, acsGuide},
	{"switch-translated", Distance::pix, Distance::pxb, no, yes, any, warn, fail,
	 "the route is across the switch, but addresses are translated: kernel P2PDMA uses the peer's bus addresses, "
	 "nvidia-fs may get invalid ones",
	 iommuStep, peerIommuGuide},
	{"switch", Distance::pix, Distance::pxb, no, no, any, pass, pass, "across the switch, at its full rate", "",
	 linux612},
	{"root-complex-unknown", Distance::phb, Distance::phb, any, any, no, fail, warn,
	 "only through a root complex that Linux does not know to forward peer-to-peer traffic", moveStep, linuxList},
	{"root-complex-translated", Distance::phb, Distance::phb, any, yes, yes, warn, fail,
	 "through the root complex and the IOMMU: slower than a switch", iommuStep, peerIommuGuide},
	{"root-complex", Distance::phb, Distance::phb, any, no, yes, warn, warn,
	 "through the root complex: slower than a switch", moveStep, switchGuide},
	{"root-complexes-unknown", Distance::node, Distance::node, any, any, no, fail, fail,
	 "from one root complex to another, which Linux does not know to forward peer-to-peer traffic", moveStep,
	 linuxList},
	{"root-complexes-translated", Distance::node, Distance::node, any, yes, yes, warn, fail,
	 "from one root complex to another, and through the IOMMU", iommuStep, peerIommuGuide},
	{"root-complexes", Distance::node, Distance::node, any, no, yes, warn, fail, "from one root complex to another",
	 moveStep, switchGuide},
	{"sockets", Distance::sys, Distance::sys, any, any, any, fail, fail,
	 "across the link between the sockets, which is slow for peer-to-peer traffic", moveStep, socketGuide},
};

bool translated(Translation translation)
{
	return translation != Translation::off && translation != Translation::passthrough;
}

bool fits(std::optional<bool> wanted, bool is)
{
	return !wanted || *wanted == is;
}

} // namespace

const char *toString(Level level)
{
	return level == Level::pass ? "PASS" : level == Level::warn ? "WARN" : "FAIL";
}

std::span<const PeerRow> peerTable()
{
	return table;
}

const PeerRow &peerRow(const PeerState &state)
{
	for (const PeerRow &row : table)
		if (row.nearest <= state.distance && state.distance <= row.farthest &&
		    fits(row.redirect, state.redirect) && fits(row.translated, translated(state.translation)) &&
		    fits(row.hostBridge, state.hostBridge))
			return row;
	std::abort(); // not reached: a unit test checks that the rows cover all states
}

PeerState peerState(const Pci &pci, const PciDevice &a, const PciDevice &b)
{
	const bool stricter = translated(b.translation) || a.translation == Translation::off;
	return {.distance = distanceBetween(a, b),
		.redirect = !redirectsBetween(pci, a, b).empty(),
		.translation = stricter ? b.translation : a.translation,
		.hostBridge = throughHostBridge(pci, a, b)};
}

} // namespace nofctl::gpu
