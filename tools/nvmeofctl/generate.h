// SPDX-License-Identifier: LGPL-2.1-or-later
// Text made from the table of commands.
#pragma once

#include <string>
#include <vector>

#include "command.h"

std::string bashCompletion();
std::string zshCompletion();
std::string fishCompletion();
std::string manPage();

std::vector<const Option *> positionalsOf(const Command &command);
// "iopolicy=", "spill-us=", ...
std::vector<std::string> settingWords();
