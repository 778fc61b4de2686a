// SPDX-License-Identifier: LGPL-2.1-or-later
// Mounts in the mount namespace of this process, as libmount reads them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include <nvmeof/result.h>

#include "places.h"

namespace nofctl::volume {

struct Mount {
	int id = 0, parent = 0; // of the mount, unique among those that exist
	dev_t device = 0;       // of the file system. One of several devices (btrfs) has a number of its own
	std::string root;  // the part of the file system that is mounted: "/", or the name of a device node in devtmpfs
	std::string point; // as the kernel spells it: without symbolic links
	std::string type;  // of the file system
	std::string source;      // /dev/nvmeof0n1
	bool readOnly = false;   // the mount, or the file system
	unsigned long flags = 0; // of the mount alone: MS_RDONLY, MS_NOSUID, ...
};

// In the kernel's order: a mount over another one comes after it.
nvmeof::Result<std::vector<Mount>> mountsOf(const Places &places);
/*
 * The topmost mount at a path, whose directories may be symbolic links; nothing, if the path is no mount point or does
 * not exist. Errors: it cannot be told; invalid, the path itself is a symbolic link. The kernel is asked for the ID of
 * the mount. No I/O goes to the mounted file system, which may be dead.
 */
nvmeof::Result<std::optional<Mount>> mountAt(const Places &places, const std::string &path);
/*
 * Mount points, from @point on, that are one directory of one file system: a mount on one of them is on all, by
 * propagation, as is its end.
 */
std::vector<std::string> copiesOf(const std::vector<Mount> &all, const std::string &point);
// The path as the kernel spells it, without symbolic links; the same text if nothing is there.
std::string canonicalPath(const std::string &path);

} // namespace nofctl::volume
