// SPDX-License-Identifier: LGPL-2.1-or-later
// Mounts in the mount namespace of this process, read with libmount.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include <nvmeof/result.h>

#include "system_paths.h"

namespace nofctl::volume {

struct Mount {
	int id = 0, parent = 0;  // mount IDs, unique among existing mounts
	dev_t device = 0;        // of the file system; one that spans several devices (btrfs) has an anonymous number
	std::string root;        // mounted part of the file system: "/", or the name of a device node in devtmpfs
	std::string point;       // as the kernel reports it: without symbolic links
	std::string type;        // of the file system
	std::string source;      // /dev/nvmeof0n1
	bool readOnly = false;   // of the mount or the file system
	unsigned long flags = 0; // of the mount only: MS_RDONLY, MS_NOSUID, ...
};

// In kernel order: a mount that covers another one comes after it.
nvmeof::Result<std::vector<Mount>> mountsOf(const SystemPaths &systemPaths);
/*
 * The topmost mount at @path. Nothing if @path is not a mount point or does not exist. Directories on the path may be
 * symbolic links. Errors: invalid, if @path itself is a symbolic link; other errors, if the mount cannot be determined.
 * Uses the mount ID that the kernel reports. Causes no I/O on the mounted file system, which may be dead.
 */
nvmeof::Result<std::optional<Mount>> mountAt(const SystemPaths &systemPaths, const std::string &path);
// @point and all other mount points that are the same directory of the same file system. Mount propagation mounts and
// unmounts at all of them together.
std::vector<std::string> copiesOf(const std::vector<Mount> &all, const std::string &point);
// The path without symbolic links, as the kernel reports it. Returns @path if it does not exist.
std::string canonicalPath(const std::string &path);

} // namespace nofctl::volume
