// SPDX-License-Identifier: LGPL-2.1-or-later
#include "mount_options.h"

#include <map>
#include <string_view>

#include <sys/mount.h>

namespace csi {

using namespace nvmeof;

namespace {

struct Flag {
	unsigned long bits;
	bool on;
};

const std::map<std::string_view, Flag> flags{
	{"ro", {MS_RDONLY, true}},         {"rw", {MS_RDONLY, false}},        {"nosuid", {MS_NOSUID, true}},
	{"suid", {MS_NOSUID, false}},      {"nodev", {MS_NODEV, true}},       {"dev", {MS_NODEV, false}},
	{"noexec", {MS_NOEXEC, true}},     {"exec", {MS_NOEXEC, false}},      {"sync", {MS_SYNCHRONOUS, true}},
	{"noatime", {MS_NOATIME, true}},   {"atime", {MS_NOATIME, false}},    {"nodiratime", {MS_NODIRATIME, true}},
	{"relatime", {MS_RELATIME, true}}, {"lazytime", {MS_LAZYTIME, true}}, {"defaults", {0, true}},
};

Error invalidError(std::string message)
{
	Error error;
	error.code = ErrorCode::invalid;
	error.message = std::move(message);
	return error;
}

} // namespace

Result<MountOptions> mountOptions(const std::string &fileSystem, const std::vector<std::string> &options)
{
	if (fileSystem != "ext4" && fileSystem != "xfs")
		return invalidError("file system '" + fileSystem + "' is neither ext4 nor xfs");
	MountOptions result;
	for (const std::string &option : options) {
		if (option.empty() || option.find(',') != option.npos)
			return invalidError("mount option '" + option + "' is not one");
		if (fileSystem == "xfs" && (option == "nobarrier" || option == "barrier"))
			return invalidError(
				"mount option '" + option +
				"': xfs has not had it since Linux 4.19, and would refuse the mount; flushes "
				"are sent where the target has a volatile write cache, and nowhere else");
		if (auto known = flags.find(option); known != flags.end())
			result.flags = known->second.on ? result.flags | known->second.bits
							: result.flags & ~known->second.bits;
		else
			result.data += (result.data.empty() ? "" : ",") + option;
	}
	return result;
}

} // namespace csi
