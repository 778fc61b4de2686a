// SPDX-License-Identifier: LGPL-2.1-or-later
// Options as mount(8) takes them, made into what mount(2) takes.
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

} // namespace csi
