// SPDX-License-Identifier: LGPL-2.1-or-later
// Selection of a table line by an environment variable
#pragma once

#include <string>

namespace guest {

// Whether the variable selects this name; true for every name if it is not set.
bool isSelected(const char *variable, const std::string &name);
// Selected names that never came up, because such a run has tested nothing. Empty: none
std::string unusedSelections();

} // namespace guest
