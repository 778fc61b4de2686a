// SPDX-License-Identifier: LGPL-2.1-or-later
// map: which card serves which GPU, and which disk paths use it.
#include <algorithm>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "context.h"
#include "gpu_documents.h"
#include "libctl/base/file.h"
#include "libctl/base/text.h"
#include "libctl/gpu/rails.h"
#include "machine.h"
#include "svg.h"
#include "table.h"

using namespace nvmeof;
using namespace nofctl::gpu;

// The GPUs, cards and disks of a machine, and which card serves which GPU, as text and as SVG.
struct MachineMap {
	const nofctl::gpu::Node &node;
	std::vector<const nofctl::gpu::PciDevice *> gpus, cards;
	std::vector<nofctl::gpu::Rail> rails;
};

std::string mapText(const MachineMap &map);
std::string mapSvg(const MachineMap &map);

static int drawMap(Context &context, const Tree &tree)
{
	const Node node = readMachine(context.args(), tree);
	Result<std::vector<std::string>> named = gpusOf(context.args(), node);
	if (!named)
		return context.fail("", named.error());
	MachineMap map{node, {}, railCards(node), {}};
	for (const std::string &address : *named)
		map.gpus.push_back(node.pci.find(address));
	if (named->empty())
		map.gpus = node.pci.of(Kind::gpu);
	map.rails = planRails(node, map.gpus, map.cards);
	if (context.args().has("svg"))
		if (Result<void> done = nofctl::replaceFile(context.args().textOr("svg", ""), mapSvg(map)); !done)
			return context.fail("", done.error());
	if (context.json())
		context.print(mapDocument(node, map.rails, map.cards));
	else
		context.out() << mapText(map);
	return 0;
}

int runMap(Context &context)
{
	return withMachine(context, drawMap);
}

// ---- output

namespace {

// The devices below one root port, which are drawn together.
struct Group {
	std::string port; // root port; for a device on the root bus, that bus
	std::vector<const PciDevice *> gpus, others;
};

using Sockets = std::map<int, std::map<std::string, Group>>; // by socket, and by root port

std::string portOf(const PciDevice &device)
{
	return device.above.empty() ? device.root : device.above.back();
}

Sockets socketsOf(const MachineMap &map)
{
	Sockets sockets;
	auto put = [&](const PciDevice *device, std::vector<const PciDevice *> Group::*list) {
		Group &group = sockets[device->socket][portOf(*device)];
		group.port = portOf(*device);
		(group.*list).push_back(device);
	};
	for (const PciDevice *gpu : map.gpus)
		put(gpu, &Group::gpus);
	for (const PciDevice *card : map.cards)
		put(card, &Group::others);
	for (const PciDevice *drive : map.node.pci.of(Kind::drive))
		put(drive, &Group::others);
	return sockets;
}

std::string nameOf(const PciDevice &device)
{
	const auto &names = !device.rdmas.empty()  ? device.rdmas
			    : !device.nets.empty() ? device.nets
						   : device.controllers;
	return names.empty() ? device.address : fmt::format("{} {}", names.front(), device.address);
}

std::string kindOf(const PciDevice &device)
{
	return device.kind == Kind::gpu     ? "GPU"
	       : device.kind == Kind::nic   ? "NIC"
	       : device.kind == Kind::drive ? "drive"
					    : "device";
}

// "nvmeof0n1 by nvmeof0c1, nvmeof0c2"
std::vector<std::string> cardDisks(const MachineMap &map, const PciDevice &card)
{
	std::vector<std::string> texts;
	for (const CardUse &use : usesOf(map.node, card)) {
		std::vector<std::string> controllers;
		for (const DiskPath *path : use.paths)
			controllers.push_back(path->controller + (path->usable ? "" : " (not usable)"));
		texts.push_back(fmt::format("{} through {}", use.disk->name, fmt::join(controllers, ", ")));
	}
	return texts;
}

const char *colour(Level level)
{
	return level == Level::pass ? "#2a7f2a" : level == Level::warn ? "#c08000" : "#c02020";
}

std::string socketName(int socket)
{
	return socket < 0 ? "unknown socket" : fmt::format("socket {}", socket);
}

std::string tree(const MachineMap &map)
{
	std::string text;
	for (const auto &[socket, groups] : socketsOf(map)) {
		text += socketName(socket) + "\n";
		for (const auto &[port, group] : groups) {
			text += fmt::format("  {}\n", port);
			for (const PciDevice *gpu : group.gpus)
				text += fmt::format("    GPU   {}{}\n", nameOf(*gpu),
						    gpu->driver.empty() ? "" : "  " + gpu->driver);
			for (const PciDevice *other : group.others) {
				text += fmt::format("    {:<5} {}\n", kindOf(*other), nameOf(*other));
				for (const std::string &disk : cardDisks(map, *other))
					text += fmt::format("            {}\n", disk);
			}
		}
	}
	return text;
}

} // namespace

std::string mapText(const MachineMap &map)
{
	Table table({{"GPU"}, {"Card"}, {"Interface"}, {"Distance"}, {"Verdict"}, {"Rule"}});
	for (const Rail &rail : map.rails)
		table.add({rail.gpu->address, nameOf(*rail.card), rail.interface.empty() ? "-" : rail.interface,
			   toString(rail.pair.state.distance), toString(rail.pair.level), rail.pair.row->id});
	return tree(map) + "\n" +
	       (map.rails.empty() ? "no rails: no GPU, or no network card that is up\n" : table.render());
}

std::string mapSvg(const MachineMap &map)
{
	constexpr int cell = 250, row = 44, box = 34, gap = 20, top = 30, labels = 20;
	Svg svg;
	std::map<const PciDevice *, std::pair<int, int>> places; // left edge, and middle of the height
	int x = gap;
	auto put = [&](const PciDevice *device, int left, int y, const char *fill) {
		svg.box(left, y, cell - gap, box, fill);
		svg.text(left + 6, y + 14, fmt::format("{} {}", kindOf(*device), device->address));
		const std::vector<std::string> disks = cardDisks(map, *device);
		svg.text(left + 6, y + 28,
			 disks.empty() ? nameOf(*device) : fmt::format("{}", fmt::join(disks, "; ")).substr(0, 38),
			 "start", 9);
		places[device] = {left, y + box / 2};
	};
	for (const auto &[socket, groups] : socketsOf(map)) {
		int y = top + labels;
		for (const auto &[port, group] : groups) {
			const auto rows = static_cast<int>(std::max(group.gpus.size(), group.others.size()));
			svg.box(x, y, 2 * cell + gap, rows * row + labels, "#f4f4f4");
			svg.text(x + 6, y + 14, port, "start", 10);
			for (std::size_t i = 0; i < group.gpus.size(); i++)
				put(group.gpus[i], x + gap / 2, y + labels + static_cast<int>(i) * row, "#dcecd0");
			for (std::size_t i = 0; i < group.others.size(); i++)
				put(group.others[i], x + gap / 2 + cell + gap, y + labels + static_cast<int>(i) * row,
				    group.others[i]->kind == Kind::nic ? "#d0e0f0" : "#eee");
			y += rows * row + labels + gap;
		}
		svg.text(x, top, socketName(socket), "start", 14);
		x += 2 * cell + 3 * gap;
	}
	for (const Rail &rail : map.rails)
		svg.line(places[rail.gpu].first + cell - gap, places[rail.gpu].second, places[rail.card].first,
			 places[rail.card].second, colour(rail.pair.level), 2);
	return svg.file();
}
