// SPDX-License-Identifier: LGPL-2.1-or-later
// Completion scripts and manual page, generated from the command table.
#pragma once

#include <string>
#include <vector>

#include "command.h"

std::string bashCompletion();
std::string zshCompletion();
std::string fishCompletion();
std::string manPage();

// Commands that are not hidden; a command precedes its verbs.
std::vector<const Command *> shownCommands();
std::vector<const Option *> positionalsOf(const Command &command);
// "iopolicy=", "spill-us=", ...
std::vector<std::string> settingWords();
