// SPDX-License-Identifier: LGPL-2.1-or-later
// What 61-nvmeof-links.rules asks.
#include <charconv>
#include <cstdlib>
#include <memory>
#include <ostream>

#include <fmt/format.h>
#include <libudev.h>
#include <nvmeof/foreign.h>

#include "context.h"
#include "link_rank.h"

using namespace nvmeof;

namespace {

// Property of a disk, and of the partitions on it, in udev's database
constexpr const char *rankProperty = "NVMEOF_LINK_RANK";

// Property of each node: its name for nvme-cli
constexpr const char *nameProperty = "NVMEOF_NVME_NAME";

// udev cuts off a list that is longer than its buffer of 1024 bytes: then all links stay as they were.
constexpr std::size_t mostOfLinks = 1000;

// Of a rule that was not there yet, the rank is 0.
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
	     disks) // how the other driver shares out links among its own disks is its own business
		if (disk.name != name && !(disk.foreign && self->foreign) && sameNamespace(disk, *self))
			others.push_back(claim(disk));
	context.out() << fmt::format("{}={}\n", rankProperty, linkRank(claim(*self), others));
	return 0;
}

int runLinkFilter(Context &context)
{
	std::string links = linksOfNamespace(variable("DEVLINKS"), variable("ID_SERIAL"), variable("ID_NSID"));
	if (links.empty() || links.size() > mostOfLinks)
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
