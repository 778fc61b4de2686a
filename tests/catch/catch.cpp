// SPDX-License-Identifier: LGPL-2.1-or-later
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

#include "run.h"

int runTests(int argc, char **argv)
{
	Catch::Session session;
	if (int bad = session.applyCommandLine(argc, argv))
		return bad;
	// a selection that fits nothing is a mistake, not a success
	auto &config = session.configData();
	config.warnings = static_cast<Catch::WarnAbout::What>(config.warnings | Catch::WarnAbout::NoTests);
	return session.run();
}
