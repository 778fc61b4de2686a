// SPDX-License-Identifier: LGPL-2.1-or-later
// Converts options of mount(8) for mount(2), and checks options of mkfs(8).
#pragma once

#include <string>
#include <vector>

#include <nvmeof/result.h>

namespace csi {

struct MountOptions {
	unsigned long flags = 0; // MS_...
	std::string data;        // options for the file system
};

inline constexpr const char *defaultFileSystem = "ext4";

// Errors are invalid: an unsupported file system, or an option that it does not have
nvmeof::Result<MountOptions> mountOptions(const std::string &fileSystem, const std::vector<std::string> &options);

// Errors are invalid: a word names a device, file or directory of the node other than the volume's disk
nvmeof::Result<void> checkMkfsOptions(const std::vector<std::string> &words);

} // namespace csi
