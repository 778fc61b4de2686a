// SPDX-License-Identifier: LGPL-2.1-or-later
// What is mounted where, in the mount namespace of this process.
#pragma once

#include <string>
#include <vector>

#include "places.h"

namespace nofctl::volume {

// A line of mountinfo, proc_pid_mountinfo(5)
struct Mount {
	std::string number; // of the device: 259:3. A file system of several devices (btrfs) has one of its own
	std::string root;   // what of it is mounted: "/", or of a device node that was bound its name in devtmpfs
	std::string point;
	std::string options; // of this mount
	std::string type;
	std::string source;
};

// In the kernel's order: what was mounted over another comes after it
std::vector<Mount> mountsOf(const Places &places);

} // namespace nofctl::volume
