// SPDX-License-Identifier: LGPL-2.1-or-later
#include "rails.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "libctl/base/make_error.h"
#include "pci.h"

namespace nofctl::gpu {

using namespace nvmeof;

namespace {

std::string interfaceOf(const PciDevice &card)
{
	return card.nets.empty() ? "" : card.nets.front();
}

bool hasLink(const Node &node, const PciDevice &card)
{
	return std::ranges::any_of(card.nets, [&](const std::string &name) {
		auto found = node.interfaces.find(name);
		return found != node.interfaces.end() && found->second.state != "down";
	});
}

Error absent(std::string message)
{
	Error error = invalidError(std::move(message));
	error.code = ErrorCode::noSuchObject;
	return error;
}

} // namespace

std::vector<Rail> planRails(const Node &node, const std::vector<const PciDevice *> &gpus,
			    const std::vector<const PciDevice *> &cards)
{
	if (cards.empty())
		return {};
	std::vector<Pair> pairs;
	for (const PciDevice *gpu : gpus)
		for (const PciDevice *card : cards)
			pairs.push_back(pairOf(node, *gpu, *card));
	std::ranges::stable_sort(pairs, {},
				 [](const Pair &pair) { return std::tuple(pair.level, pair.state.distance); });
	const std::size_t share = (gpus.size() + cards.size() - 1) / cards.size();
	std::map<const PciDevice *, Rail> rails;
	std::map<const PciDevice *, std::size_t> load;
	// assign one GPU to each card, then a second one, and so on
	for (std::size_t round = 1; round <= share; round++)
		for (const Pair &pair : pairs)
			if (!rails.contains(pair.gpu) && load[pair.peer] < round) {
				load[pair.peer]++;
				rails[pair.gpu] = {pair.gpu, pair.peer, pair, interfaceOf(*pair.peer)};
			}
	std::vector<Rail> ordered;
	for (const PciDevice *gpu : gpus)
		ordered.push_back(rails[gpu]);
	return ordered;
}

std::vector<const PciDevice *> railCards(const Node &node, const std::set<std::string> &used)
{
	std::vector<const PciDevice *> cards = node.pci.of(Kind::nic);
	std::erase_if(cards, [&](const PciDevice *card) {
		auto isUsed = [&](const std::string &name) { return used.contains(name); };
		return !hasLink(node, *card) && std::ranges::none_of(card->nets, isUsed);
	});
	std::vector<const PciDevice *> fast = cards;
	std::erase_if(fast, [](const PciDevice *card) { return card->rdmas.empty(); });
	return fast.empty() ? cards : fast;
}

Result<std::vector<std::string>> railInterfaces(const Node &node, const std::string &gpu,
						const std::set<std::string> &used)
{
	std::vector<const PciDevice *> gpus = node.pci.of(Kind::gpu);
	const PciDevice *one = node.pci.find(pciAddress(gpu));
	if (gpu != "all" && !one)
		return absent("there is no PCI device " + gpu);
	if (one && std::ranges::find(gpus, one) == gpus.end())
		gpus.push_back(one); // stands in for a GPU
	std::vector<std::string> interfaces;
	for (const Rail &rail : planRails(node, gpus, railCards(node, used)))
		if ((gpu == "all" || rail.gpu == one) && !rail.interface.empty() &&
		    std::ranges::find(interfaces, rail.interface) == interfaces.end())
			interfaces.push_back(rail.interface);
	if (interfaces.empty())
		return absent(gpus.empty() ? "there is no GPU"
					   : "no NIC with an interface that is up was found for it");
	return interfaces;
}

std::vector<CardUse> usesOf(const Node &node, const PciDevice &card)
{
	std::vector<CardUse> uses;
	for (const auto &[name, disk] : node.disks) {
		CardUse use{&disk, {}};
		for (const DiskPath &path : disk.paths)
			if (path.pci == card.address)
				use.paths.push_back(&path);
		if (!use.paths.empty())
			uses.push_back(use);
	}
	return uses;
}

std::vector<std::string> spreadOverRails(Config &config, const Tree &tree, const std::set<std::string> &used,
					 SpreadRails *earlier)
{
	std::vector<std::string> notes;
	if (std::ranges::all_of(config.connections, [](const ConfigTarget &one) { return one.rail.empty(); }))
		return notes;
	const Node node = readNode(tree);
	std::set<std::string> usable;
	for (const PciDevice *card : railCards(node, used))
		usable.insert(card->nets.begin(), card->nets.end());
	auto lost = [&](const std::string &name) { return used.contains(name) && !usable.contains(name); };
	std::vector<ConfigTarget> spread;
	SpreadRails now;
	for (ConfigTarget &one : config.connections) {
		const std::string rail = std::exchange(one.rail, "");
		Result<std::vector<std::string>> interfaces =
			rail.empty() ? Result<std::vector<std::string>>(std::vector<std::string>{one.hostIface})
				     : railInterfaces(node, rail, used);
		if (!rail.empty() && earlier && std::ranges::any_of((*earlier)[rail], lost))
			interfaces = (*earlier)[rail];
		if (!rail.empty() && interfaces)
			now[rail] = *interfaces;
		if (!interfaces) {
			notes.push_back(one.place.toString() + ": rail " + rail + ": " + interfaces.error().message +
					"; the kernel's routing applies");
			interfaces = std::vector<std::string>{""};
		}
		for (const std::string &interface : *interfaces) {
			spread.push_back(one);
			spread.back().hostIface = interface;
		}
	}
	config.connections = std::move(spread);
	if (earlier)
		*earlier = std::move(now);
	return notes;
}

} // namespace nofctl::gpu
