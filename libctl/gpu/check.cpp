// SPDX-License-Identifier: LGPL-2.1-or-later
#include "finding.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace nofctl::gpu {

namespace {

Level worse(Level a, Level b)
{
	return std::max(a, b);
}

std::string nameOf(const PciDevice &device)
{
	const std::vector<std::string> &names = !device.rdmas.empty()  ? device.rdmas
						: !device.nets.empty() ? device.nets
								       : device.controllers;
	return names.empty() ? device.address : fmt::format("{} ({})", names.front(), device.address);
}

void addUnique(std::vector<const PciDevice *> &devices, const PciDevice *one)
{
	if (one && std::ranges::find(devices, one) == devices.end())
		devices.push_back(one);
}

// The NICs and local drives that the disks are reached through. Without disks: all NICs with RDMA or, if there are
// none, all NICs.
std::vector<const PciDevice *> cardsFor(const Node &node, const std::vector<const Disk *> &disks)
{
	std::vector<const PciDevice *> cards;
	for (const Disk *disk : disks)
		for (const Disk *below : node.bottom(*disk)) {
			addUnique(cards, node.pci.find(below->pci));
			for (const DiskPath &path : below->paths)
				addUnique(cards, node.pci.find(path.pci));
		}
	if (!cards.empty())
		return cards;
	const std::vector<const PciDevice *> all = node.pci.of(Kind::nic);
	std::ranges::copy_if(all, std::back_inserter(cards), [](const PciDevice *one) { return !one->rdmas.empty(); });
	return cards.empty() ? all : cards;
}

bool better(const Pair &a, const Pair &b)
{
	return std::pair(a.level, a.state.distance) < std::pair(b.level, b.state.distance);
}

void tellPair(Findings &findings, const Pair &pair)
{
	const PeerRow &row = *pair.row;
	findings.push_back({pair.level, "peers", fmt::format("{} - {}", pair.gpu->address, nameOf(*pair.peer)),
			    fmt::format("{}: {}", toString(pair.state.distance), row.what), row.step, row.id,
			    row.source});
}

void tellRedirects(Findings &findings, const std::vector<Pair> &pairs)
{
	std::set<std::string> told;
	for (const Pair &pair : pairs)
		for (const PciDevice *bridge : pair.redirects) {
			if (pair.state.distance > Distance::pxb || !told.insert(bridge->address).second)
				continue;
			findings.push_back({Level::fail, "acs", bridge->address,
					    fmt::format("redirects peer-to-peer traffic (ACS control {:#06x})",
							bridge->config.acs->on),
					    clearRedirects(*bridge) + ", and pci=disable_acs_redir=" + bridge->address +
						    " for the next boot; devices below it can then reach each other's "
						    "memory without the IOMMU: do not do this if one of them is "
						    "assigned to a virtual machine",
					    "acs-redirect",
					    "PCI Express Base 5.0, 7.7.8; Linux, admin-guide/kernel-parameters: "
					    "pci=disable_acs_redir"});
		}
}

} // namespace

Level worst(const Findings &findings)
{
	Level level = Level::pass;
	for (const Finding &one : findings)
		level = worse(level, one.level);
	return level;
}

std::string clearRedirects(const PciDevice &bridge)
{
	constexpr unsigned control = 6; // offset of the ACS Control register
	return fmt::format("setpci -s {} ECAP_ACS+{}.w=0000:{:04x}", bridge.address, control, Acs::redirects);
}

// A device of another vendor stands in for an unknown GPU: both means are checked.
std::vector<P2pMethod> methodsOf(const Node &node, const PciDevice &gpu)
{
	if (gpu.config.vendor == nvidia)
		return {node.modules.contains("nvidia_fs") ? P2pMethod::nvidiaFs : P2pMethod::p2pdma};
	if (gpu.config.vendor == amd)
		return {P2pMethod::p2pdma};
	return {P2pMethod::p2pdma, P2pMethod::nvidiaFs};
}

Pair pairOf(const Node &node, const PciDevice &gpu, const PciDevice &peer)
{
	Pair pair{&gpu,    &peer,       peerState(node.pci, gpu, peer),
		  nullptr, Level::pass, redirectsBetween(node.pci, gpu, peer)};
	pair.row = &peerRow(pair.state);
	for (P2pMethod means : methodsOf(node, gpu))
		pair.level = worse(pair.level, pair.row->level(means));
	return pair;
}

// Pairs each GPU with each card, and reports the best pair of each GPU.
void checkPairs(CheckReport &answer, const Node &node)
{
	for (const PciDevice *gpu : answer.gpus) {
		const auto first = static_cast<std::ptrdiff_t>(answer.pairs.size());
		for (const PciDevice *card : answer.cards)
			answer.pairs.push_back(pairOf(node, *gpu, *card));
		const auto best = std::min_element(answer.pairs.begin() + first, answer.pairs.end(), better);
		if (best != answer.pairs.end())
			tellPair(answer.findings, *best);
	}
	tellRedirects(answer.findings, answer.pairs);
}

CheckReport check(const Node &node, const CheckRequest &question)
{
	CheckReport answer;
	if (question.gpus.empty())
		answer.gpus = node.pci.of(Kind::gpu);
	for (const std::string &address : question.gpus)
		addUnique(answer.gpus, node.pci.find(address));
	for (const auto &[name, disk] : node.disks)
		if (question.disks.empty() && disk.kind == Disk::Kind::head)
			answer.disks.push_back(&disk);
	for (const std::string &name : question.disks)
		if (const Disk *disk = node.disk(name))
			answer.disks.push_back(disk);
	answer.cards = cardsFor(node, answer.disks);
	std::erase_if(answer.cards,
		      [&](const PciDevice *card) { return std::ranges::find(answer.gpus, card) != answer.gpus.end(); });
	checkSoftware(answer.findings, node, answer.gpus);
	for (const PciDevice *gpu : answer.gpus)
		checkGpu(answer.findings, node, *gpu);
	for (const PciDevice *card : answer.cards)
		checkCard(answer.findings, node, *card);
	checkPairs(answer, node);
	for (const Disk *disk : answer.disks)
		checkDisk(answer.findings, node, *disk);
	return answer;
}

} // namespace nofctl::gpu
