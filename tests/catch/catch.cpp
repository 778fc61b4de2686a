// SPDX-License-Identifier: LGPL-2.1-or-later
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

#include "run.h"

int runTests(int argc, char **argv)
{
	return Catch::Session().run(argc, argv);
}
