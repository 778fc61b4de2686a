// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reads only attributes of the in-tree driver whose show functions do not block. "nuse" sends a command, and "address"
 * takes a lock that is held during a connect. Attributes that depend on the subsystem must not be read before the
 * controller has one, so controllers are looked up below their subsystem.
 */
#include "foreign.h"

#include <algorithm>
#include <charconv>

#include "libctl/base/file.h"

using nvmeof::ForeignController;
using nvmeof::NvmeDisk;

namespace nofctl {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view ourPrefix = "nvmeof";

// Strips the newline and the blanks that pad identifiers. Empty if the attribute does not exist.
std::string attribute(const fs::path &file)
{
	nvmeof::Result<std::string> text = readSmallFile(file);
	if (!text)
		return {};
	std::size_t last = text->find_last_not_of(" \n");
	return last == text->npos ? std::string() : text->substr(0, last + 1);
}

std::uint64_t number(const fs::path &file)
{
	std::string text = attribute(file);
	std::uint64_t value = 0;
	std::from_chars(text.data(), text.data() + text.size(), value);
	return value;
}

// Sorted names in a directory. Entries added or removed meanwhile may be missing.
std::vector<std::string> namesIn(const fs::path &folder)
{
	std::vector<std::string> names;
	std::error_code error;
	for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
		names.push_back(entry->path().filename());
	std::sort(names.begin(), names.end());
	return names;
}

bool onlyDigits(std::string_view text)
{
	return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

// "nvme0", not "nvme0n1"
bool isController(std::string_view name)
{
	return name.starts_with("nvme") && onlyDigits(name.substr(4));
}

// The multipath disk. The disk of a single path is hidden.
bool isDisk(const fs::path &disk)
{
	return disk.filename().string().starts_with("nvme") && attribute(disk / "hidden") != "1";
}

bool counts(const fs::path &controller, const std::string &state)
{
	return attribute(controller / "cntrltype") != "discovery" && !state.starts_with("deleting") && state != "dead";
}

} // namespace

std::vector<ForeignController> foreignControllers(std::string_view subsysnqn, const fs::path &sys)
{
	std::vector<ForeignController> found;
	fs::path all = sys / "class/nvme-subsystem";
	for (const std::string &subsystem : namesIn(all)) {
		if (attribute(all / subsystem / "subsysnqn") != subsysnqn)
			continue;
		for (const std::string &name : namesIn(all / subsystem)) {
			fs::path controller = all / subsystem / name;
			if (!isController(name))
				continue;
			std::string state = attribute(controller / "state");
			if (counts(controller, state))
				found.push_back({name, attribute(controller / "transport"), state});
		}
	}
	return found;
}

std::vector<NvmeDisk> nvmeDisks(const fs::path &sys)
{
	std::vector<NvmeDisk> disks;
	fs::path all = sys / "block";
	for (const std::string &name : namesIn(all)) {
		fs::path disk = all / name;
		if (!isDisk(disk))
			continue;
		disks.push_back({name, attribute(disk / "device/subsysnqn"),
				 static_cast<std::uint32_t>(number(disk / "nsid")), attribute(disk / "wwid"),
				 number(disk / "diskseq"), !name.starts_with(ourPrefix)});
	}
	return disks;
}

} // namespace nofctl

namespace nvmeof {

namespace {

constexpr const char *sysfs = "/sys";

// "uuid." or "eui.". Other wwids differ between drivers: each makes up its own if the target provides no identifier.
bool isIdentifier(std::string_view wwid)
{
	return wwid.starts_with("uuid.") || wwid.starts_with("eui.");
}

} // namespace

std::vector<ForeignController> foreignControllers(std::string_view subsysnqn)
{
	return nofctl::foreignControllers(subsysnqn, sysfs);
}

std::vector<NvmeDisk> nvmeDisks()
{
	return nofctl::nvmeDisks(sysfs);
}

bool sameNamespace(const NvmeDisk &one, const NvmeDisk &other)
{
	if (isIdentifier(one.wwid) || isIdentifier(other.wwid))
		return one.wwid == other.wwid;
	return !one.subsysnqn.empty() && one.subsysnqn == other.subsysnqn && one.nsid == other.nsid;
}

std::vector<NvmeDisk> foreignTwins(std::string_view name, const std::vector<NvmeDisk> &disks)
{
	std::vector<NvmeDisk> twins;
	auto self = std::find_if(disks.begin(), disks.end(), [&](const NvmeDisk &disk) { return disk.name == name; });
	if (self == disks.end())
		return twins;
	std::copy_if(disks.begin(), disks.end(), std::back_inserter(twins),
		     [&](const NvmeDisk &disk) { return disk.foreign && sameNamespace(*self, disk); });
	return twins;
}

} // namespace nvmeof
