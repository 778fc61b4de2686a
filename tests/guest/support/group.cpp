// SPDX-License-Identifier: LGPL-2.1-or-later
#include "group.h"

#include "group_table.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <iterator>

namespace guest {

bool inGroup(const std::string &sourceFile)
{
	static const std::string name = program_invocation_short_name;
	static const bool ownName = std::filesystem::read_symlink("/proc/self/exe").filename() == name;

	return ownName || std::any_of(std::begin(groupTable), std::end(groupTable), [&](auto &entry) {
		       return name == entry.group && sourceFile.ends_with(std::string("/") + entry.file);
	       });
}

} // namespace guest
