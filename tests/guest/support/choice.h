// SPDX-License-Identifier: LGPL-2.1-or-later
// One of many, named in the environment.
#pragma once

#include <string>

namespace guest {

// Whether name is the one that the variable asks for; so is each, where it is not set.
bool chosen(const char *variable, const std::string &name);
// Names that were asked for and never came up: a run that played nothing is no success. Empty: all is well.
std::string neverChosen();

} // namespace guest
