// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

namespace nofctl::volume {

// Of a file in sysfs or the like; empty when there is none.
inline std::string firstLine(const std::filesystem::path &file)
{
	std::string line;
	std::ifstream stream(file);
	std::getline(stream, line);
	return line;
}

} // namespace nofctl::volume
