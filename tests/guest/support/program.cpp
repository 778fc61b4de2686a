// SPDX-License-Identifier: LGPL-2.1-or-later
#include "program.h"

#include "program_table.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <iterator>

namespace guest {

bool inThisProgram(const std::string &sourceFile)
{
	static const std::string name = program_invocation_short_name;
	static const bool ownName = std::filesystem::read_symlink("/proc/self/exe").filename() == name;

	return ownName || std::any_of(std::begin(programTable), std::end(programTable), [&](auto &entry) {
		       return name == entry.program && sourceFile.ends_with(std::string("/") + entry.file);
	       });
}

} // namespace guest
