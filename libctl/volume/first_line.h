// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

namespace nofctl::volume {

// The first line of a file, for example in sysfs; empty if it cannot be read.
inline std::string firstLine(const std::filesystem::path &file)
{
	std::string line;
	std::ifstream stream(file);
	std::getline(stream, line);
	return line;
}

} // namespace nofctl::volume
