// SPDX-License-Identifier: LGPL-2.1-or-later
// The commands that 61-nvmeof-links.rules runs.
#include "links.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <optional>
#include <ostream>

#include <fmt/format.h>
#include <libudev.h>

#include <nvmeof/foreign.h>

#include "context.h"

using namespace nvmeof;

namespace {

// Property of a disk and its partitions in the udev database
constexpr const char *rankProperty = "NVMEOF_LINK_RANK";

// Property of each node in the udev database: its name for nvme-cli
constexpr const char *nameProperty = "NVMEOF_NVME_NAME";

// udev truncates output at its buffer of 1024 bytes. A longer list is not printed, so that the links stay as they are.
constexpr std::size_t maxLinks = 1000;

// 0 if udev handled the disk before the rule was installed.
std::optional<unsigned> recordedRank(udev *library, const std::string &disk)
{
	std::unique_ptr<udev_device, decltype(&udev_device_unref)> device(
		udev_device_new_from_subsystem_sysname(library, "block", disk.c_str()), udev_device_unref);
	if (!device || udev_device_get_is_initialized(device.get()) <= 0)
		return std::nullopt;
	const char *text = udev_device_get_property_value(device.get(), rankProperty);
	unsigned rank = 0;
	if (text)
		std::from_chars(text, text + std::char_traits<char>::length(text), rank);
	return rank;
}

std::string_view variable(const char *name)
{
	const char *value = std::getenv(name);
	return value ? value : "";
}

} // namespace

int runLinkRank(Context &context)
{
	std::unique_ptr<udev, decltype(&udev_unref)> library(udev_new(), udev_unref);
	std::string name = context.args().textOr("DISK", "");
	std::vector<NvmeDisk> disks = nvmeDisks();
	const NvmeDisk *self = nullptr;
	for (const NvmeDisk &disk : disks)
		if (disk.name == name)
			self = &disk;
	if (!self || !library)
		return 1;
	auto claim = [&](const NvmeDisk &disk) {
		return LinkClaim{recordedRank(library.get(), disk.name), disk.sequence};
	};
	std::vector<LinkClaim> others;
	for (const NvmeDisk &disk :
	     disks) // links among the disks of the in-tree driver are left as the stock rules make them
		if (disk.name != name && !(disk.foreign && self->foreign) && sameNamespace(disk, *self))
			others.push_back(claim(disk));
	context.out() << fmt::format("{}={}\n", rankProperty, linkRank(claim(*self), others));
	return 0;
}

int runLinkFilter(Context &context)
{
	std::string links = linksOfNamespace(variable("DEVLINKS"), variable("ID_SERIAL"), variable("ID_NSID"));
	if (links.empty() || links.size() > maxLinks)
		return 1;
	context.out() << links << "\n";
	return 0;
}

int runLinkName(Context &context)
{
	std::string name = inTreeName(context.args().textOr("NODE", ""));
	if (name.empty())
		return 1;
	context.out() << fmt::format("{}={}\n", nameProperty, name);
	return 0;
}

// ---- ranks and names

namespace {

constexpr std::string_view dev = "/dev/";
constexpr std::string_view part = "-part"; // followed by the partition number

// Numbers in names of the in-tree driver's form. They must fit into an int, as nvme-cli reads them by sscanf().
constexpr unsigned firstNumber = 100'000'000, numbersOfSubsystem = 10'000, maxSubsystems = 200'000;

// Removes a number from the front of @text.
std::optional<unsigned> takeNumber(std::string_view &text)
{
	unsigned number = 0;
	auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
	if (error != std::errc())
		return std::nullopt;
	text.remove_prefix(static_cast<std::size_t>(end - text.data()));
	return number;
}

bool isAhead(const LinkClaim &other, const LinkClaim &disk)
{
	if (other.rank.has_value() != disk.rank.has_value())
		return other.rank.has_value();
	if (other.rank != disk.rank)
		return *other.rank < *disk.rank;
	return other.sequence < disk.sequence;
}

bool isPartition(std::string_view suffix)
{
	return suffix.starts_with(part) && suffix.size() > part.size() &&
	       suffix.find_first_not_of("0123456789", part.size()) == suffix.npos;
}

} // namespace

unsigned linkRank(const LinkClaim &disk, const std::vector<LinkClaim> &others)
{
	unsigned rank = 0, ahead = 0;
	for (const LinkClaim &other : others)
		if (isAhead(other, disk))
			rank = std::max({rank, ++ahead, other.rank.value_or(0) + 1});
	return std::min(rank, lowestLinkRank);
}

std::string linksOfNamespace(std::string_view links, std::string_view serial, std::string_view nsid)
{
	std::string shared;
	if (serial.size() > nsid.size() + 1 && serial.ends_with(nsid) && serial[serial.size() - nsid.size() - 1] == '_')
		shared = "disk/by-id/nvme-" + std::string(serial.substr(0, serial.size() - nsid.size() - 1));
	std::string kept;
	while (!links.empty()) {
		std::string_view link = links.substr(0, links.find(' '));
		links.remove_prefix(std::min(links.size(), link.size() + 1));
		if (link.starts_with(dev))
			link.remove_prefix(dev.size());
		bool drop = !shared.empty() && link.starts_with(shared) &&
			    (link.size() == shared.size() || isPartition(link.substr(shared.size())));
		if (!link.empty() && !drop)
			kept += (kept.empty() ? "" : " ") + std::string(link);
	}
	return kept;
}

std::string inTreeName(std::string_view node)
{
	const std::string_view generic = "ng", ours = "nvmeof";
	bool isGeneric = node.starts_with(generic);
	if (isGeneric)
		node.remove_prefix(generic.size());
	if (!node.starts_with(ours))
		return "";
	node.remove_prefix(ours.size());
	std::optional<unsigned> subsystem = takeNumber(node);
	if (!subsystem || *subsystem > maxSubsystems)
		return "";
	std::string_view kind = node.substr(0, 1);
	node.remove_prefix(kind.size());
	std::optional<unsigned> own = takeNumber(node);
	if (!own || !node.empty() || (isGeneric && kind != "n"))
		return "";
	unsigned number = firstNumber + *subsystem * numbersOfSubsystem;
	if (kind == "n")
		return fmt::format("{}{}n{}", isGeneric ? generic : "nvme", number, *own);
	return kind == "c" && *own < numbersOfSubsystem ? fmt::format("nvme{}", number + *own) : "";
}
