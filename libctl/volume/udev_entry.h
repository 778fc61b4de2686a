// SPDX-License-Identifier: LGPL-2.1-or-later
// What udev's database has of a disk. Read as files, so that a container needs no more of udev than /run/udev.
#pragma once

#include <string>

#include "places.h"

namespace nofctl::volume {

struct UdevEntry {
	bool ready = false; // its node is there, and udev is through with it; without a udevd: the node
	std::string byId;   // /dev/disk/by-id/..., one that leads to the disk; of several the one with the UUID
};

UdevEntry udevEntry(const Places &places, const std::string &disk);

} // namespace nofctl::volume
