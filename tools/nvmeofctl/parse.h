// SPDX-License-Identifier: LGPL-2.1-or-later
// From argv to a command and its options.
#pragma once

#include <string>
#include <vector>

#include "args.h"
#include "command.h"

struct CommandLine {
	const Command *command = nullptr; // null: nothing to run, print @text and end with @exitCode
	Args args;
	std::string text;
	int exitCode = 0;
};

// @words: without the name of the program.
CommandLine parseCommandLine(const std::vector<std::string> &words);
