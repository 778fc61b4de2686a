// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/unit/golden.h"

#include <catch2/catch.hpp>

#include <set>

namespace {

std::set<std::string> linesOf(const std::string &unit)
{
	std::set<std::string> lines;
	std::istringstream text(golden::textOf(golden::sources / "../../tools" / unit));
	for (std::string line; std::getline(text, line);)
		lines.insert(line);
	return lines;
}

} // namespace

TEST_CASE("a service restarts after every crash, but not with a wrong configuration, and leaves no core dump",
	  "[daemon][units]")
{
	struct Unit {
		const char *file, *hopeless; // exit codes after which a restart does not help
	};
	for (const Unit &unit : {Unit{"nvmeofd/nvmeofd.service.in", "2 3"},
				 {"nvmeof-cdc/nvmeof-cdc.service.in", "2 3"},
				 {"nvmeof-tlsd/nvmeof-tlsd.service.in", "2 8"}}) {
		CAPTURE(unit.file);
		const std::set<std::string> lines = linesOf(unit.file);
		CHECK(lines.contains(std::string("RestartPreventExitStatus=") + unit.hopeless));
		for (const char *line : {"StartLimitIntervalSec=0", "Restart=on-failure", "RestartSec=1",
					 "WatchdogSec=30", "LimitCORE=0"}) { // its memory has keys in it
			CAPTURE(line);
			CHECK(lines.contains(line));
		}
	}
}
