// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <filesystem>
#include <string>

namespace nofctl {

struct UdevPlaces {
	std::filesystem::path sys = "/sys/block";
	std::filesystem::path run = "/run/udev";
	std::filesystem::path dev = "/dev";
};

bool udevRuns(const UdevPlaces &places = {});

// Whether the block device has its node, and udev is done with its uevent (udev writes the database entry after the
// links).
bool udevHandled(const std::string &disk, const UdevPlaces &places = {});

} // namespace nofctl
