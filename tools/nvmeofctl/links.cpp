// SPDX-License-Identifier: LGPL-2.1-or-later
// The commands that 61-nvmeof-links.rules runs.
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
