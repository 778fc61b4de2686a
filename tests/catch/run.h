/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <functional>
#include <string>
#include <vector>

/** Properties of a test case, independent of the version of Catch2. */
struct TestCaseFacts {
	std::string name;
	std::string file;
	std::vector<std::string> tags; /**< in lower case */
};

/** Return type of a listener's assertionEnded(). */
#ifdef NVMEOF_CATCH3
using AssertionEnded = void;
#else
using AssertionEnded = bool;
#endif

/** Run the test cases that the command line selects and for which `keep` (unset: all) returns true. Returns Catch's
 *  exit status, the number of failed cases; nonzero if no case is left. */
int runTests(int argc, char **argv, const std::function<bool(const TestCaseFacts &)> &keep = {});
