// SPDX-License-Identifier: LGPL-2.1-or-later
// Where the machine tells of itself, and where is kept what is attached. Tests have others.
#pragma once

#include <filesystem>

namespace nofctl::volume {

struct Places {
	std::filesystem::path sys = "/sys";
	std::filesystem::path proc = "/proc";
	std::filesystem::path dev = "/dev";
	std::filesystem::path udev = "/run/udev";
	// Lives as long as the kernel's controllers do: until the next boot.
	std::filesystem::path book = "/run/nvmeof/volumes";
};

} // namespace nofctl::volume
