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

// Commands that are not hidden, each with its verbs behind it.
std::vector<const Command *> shownCommands();
std::vector<const Option *> positionalsOf(const Command &command);
// "iopolicy=", "spill-us=", ...
std::vector<std::string> settingWords();
