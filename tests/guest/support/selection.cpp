// SPDX-License-Identifier: LGPL-2.1-or-later
#include "selection.h"

#include "shell.h"

#include <map>

namespace guest {
namespace {

std::map<std::string, bool> wanted; // "VARIABLE=name": whether it came up

} // namespace

bool isSelected(const char *variable, const std::string &name)
{
	auto only = environment(variable, "");
	if (only.empty())
		return true;
	bool is = only == name;
	wanted[std::string(variable) + "=" + only] |= is;
	return is;
}

std::string unusedSelections()
{
	std::string text;
	for (auto &[name, found] : wanted)
		if (!found)
			text += " " + name;
	return text;
}

} // namespace guest
