// SPDX-License-Identifier: LGPL-2.1-or-later
// Completion scripts and manual pages, generated from the command table.
#pragma once

#include <string>
#include <vector>

#include "command.h"

std::string bashCompletion();
std::string zshCompletion();
std::string fishCompletion();
std::string manPage(); // the overview, nvmeofctl(8)
// @command is not a verb.
std::string manPage(const Command &command);

// Commands that are not hidden; a command precedes its verbs.
std::vector<const Command *> shownCommands();
std::vector<const Option *> positionalsOf(const Command &command);
// "iopolicy=", "spill-us=", ...
std::vector<std::string> settingWords();
