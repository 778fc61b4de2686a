// SPDX-License-Identifier: LGPL-2.1-or-later
#include <iostream>

#include "context.h"
#include "parse.h"

int main(int argc, char **argv)
{
	CommandLine line = parseCommandLine(std::vector<std::string>(argv + 1, argv + argc));
	if (!line.command) {
		(line.exitCode ? std::cerr : std::cout) << line.text;
		return line.exitCode;
	}
	for (const std::string &notice : line.notices)
		std::cerr << "nvmeofctl: note: " << notice << "\n";
	Context context(*line.command, std::move(line.args), std::cout, std::cerr);
	int code = line.command->run(context);
	std::cout.flush();
	if (!std::cout) { // such as a full disk behind a redirection
		std::cerr << "nvmeofctl: cannot write the output\n";
		return code ? code : 1;
	}
	return code;
}
