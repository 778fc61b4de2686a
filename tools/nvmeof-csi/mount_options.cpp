// SPDX-License-Identifier: LGPL-2.1-or-later
#include "mount_options.h"

#include <cstdlib>
#include <memory>

#include <libmount/libmount.h>
#include <sys/mount.h>

namespace csi {

using namespace nvmeof;

namespace {

// These flags make something else than a file system mount, or change an existing mount.
constexpr unsigned long refusedFlags =
	MS_REMOUNT | MS_BIND | MS_REC | MS_SHARED | MS_SLAVE | MS_PRIVATE | MS_UNBINDABLE;

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
	std::string all;
	for (const std::string &option : options) {
		if (option.empty() || option.find(',') != option.npos)
			return invalidError("mount option '" + option + "' is not valid");
		if (fileSystem == "xfs" && (option == "nobarrier" || option == "barrier"))
			return invalidError("mount option '" + option +
					    "': removed from xfs in Linux 4.19, so the mount would fail; flushes are "
					    "sent only where the target has a volatile write cache");
		const std::string name = option.substr(0, option.find('='));
		if (name == "journal_path" || name == "journal_dev" || name == "logdev" || name == "rtdev")
			return invalidError("mount option '" + option +
					    "' names a device of the node that is not the volume's: remove it");
		unsigned long flags = 0;
		mnt_optstr_get_flags(option.c_str(), &flags, mnt_get_builtin_optmap(MNT_LINUX_MAP));
		if (flags & refusedFlags)
			return invalidError("mount option '" + option + "' does not apply to a file system on a disk");
		all += (all.empty() ? "" : ",") + option;
	}
	MountOptions result;
	char *data = nullptr; // omits options for mount(8) or init: _netdev, nofail, defaults
	if (mnt_optstr_get_flags(all.c_str(), &result.flags, mnt_get_builtin_optmap(MNT_LINUX_MAP)) != 0 ||
	    mnt_split_optstr(all.c_str(), nullptr, nullptr, &data, 0, 0) != 0)
		return invalidError("mount options '" + all + "' cannot be read");
	const std::unique_ptr<char, decltype(&std::free)> owned(data, std::free);
	result.data = data ? data : "";
	return result;
}

Result<void> checkMkfsOptions(const std::vector<std::string> &words)
{
	for (std::size_t i = 0; i < words.size(); i++) {
		const std::string &word = words[i];
		bool names = word.find('/') != word.npos || word.starts_with("-z") || word.starts_with("-p");
		for (const char *key : {"device=", "logdev=", "rtdev=", "name=", "options="})
			names = names || word.find(key) != word.npos;
		if (word.starts_with("-d")) { // xfs: KEY=VALUE; ext4: a directory to copy
			const std::string value = word.size() > 2        ? word.substr(2)
						  : i + 1 < words.size() ? words[i + 1]
									 : "";
			names = names || value.find('=') == value.npos;
		}
		if (names)
			return invalidError(
				"mkfsOptions: '" + word +
				"' names a device, file or folder of the node other than the volume's disk: "
				"remove it");
	}
	return {};
}

} // namespace csi
