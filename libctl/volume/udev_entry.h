// SPDX-License-Identifier: LGPL-2.1-or-later
// A disk's entry in the udev database. Reads the files directly, so that a container needs only /run/udev.
#pragma once

#include <string>

#include "system_paths.h"

namespace nofctl::volume {

struct UdevEntry {
	bool ready = false; // the node exists and udev has processed it; without udevd: the node exists
	std::string byId;   // a link below /dev/disk/by-id to the disk; preferably the one with the UUID
};

UdevEntry udevEntry(const SystemPaths &systemPaths, const std::string &disk);

} // namespace nofctl::volume
