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

TEST_CASE("a service restarts after every crash, but not with a wrong configuration", "[daemon][units]")
{
	for (const char *unit : {"nvmeofd/nvmeofd.service.in", "nvmeof-cdc/nvmeof-cdc.service.in"}) {
		CAPTURE(unit);
		const std::set<std::string> lines = linesOf(unit);
		for (const char *line : {"StartLimitIntervalSec=0", "Restart=on-failure", "RestartSec=1",
					 "RestartPreventExitStatus=2 3", "WatchdogSec=30"}) {
			CAPTURE(line);
			CHECK(lines.contains(line));
		}
	}
}
