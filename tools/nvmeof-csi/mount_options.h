// SPDX-License-Identifier: LGPL-2.1-or-later
// Options of a file system: as mount(8) takes them, made into what mount(2) takes; and those of mkfs(8).
#pragma once

#include <string>
#include <vector>

#include <nvmeof/result.h>

namespace csi {

struct MountOptions {
	unsigned long flags = 0; // MS_...
	std::string data;        // the rest, for the file system
};

inline constexpr const char *defaultFileSystem = "ext4";

// Errors are invalid: a file system that this plugin does not make, an option that this one does not have.
nvmeof::Result<MountOptions> mountOptions(const std::string &fileSystem, const std::vector<std::string> &options);

// Errors are invalid: a word that names another device, file or folder of the node than the volume's disk.
nvmeof::Result<void> checkMkfsOptions(const std::vector<std::string> &words);

} // namespace csi
