// SPDX-License-Identifier: LGPL-2.1-or-later
// Parses the command line into a command and its options.
#pragma once

#include <string>
#include <vector>

#include "args.h"
#include "command.h"

struct CommandLine {
	const Command *command = nullptr; // null: print @text and exit with @exitCode
	Args args;
	std::string text;
	int exitCode = 0;
	std::vector<std::string> notices = {}; // old spellings on the line, for stderr
};

// @words: argv without the program name
CommandLine parseCommandLine(const std::vector<std::string> &words);
