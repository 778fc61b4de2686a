// SPDX-License-Identifier: LGPL-2.1-or-later
// System directories, and the directory that lists the attached volumes. Tests use others.
#pragma once

#include <filesystem>

namespace nofctl::volume {

struct SystemPaths {
	std::filesystem::path sys = "/sys";
	std::filesystem::path proc = "/proc";
	std::filesystem::path dev = "/dev";
	std::filesystem::path udev = "/run/udev";
	// On tmpfs: like the kernel's controllers, the entries last until the next boot.
	std::filesystem::path attachments = "/run/nvmeof/volumes";
};

} // namespace nofctl::volume
