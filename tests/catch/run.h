/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <functional>
#include <string>
#include <vector>

/** A test case, of whichever version of Catch2. */
struct TestCaseFacts {
	std::string name;
	std::string file;
	std::vector<std::string> tags; /**< in small letters */
};

/** What a listener's assertionEnded() returns. */
#ifdef NVMEOF_CATCH3
using AssertionEnded = void;
#else
using AssertionEnded = bool;
#endif

/** Run the test cases that the command line selects, less those for which `keep` (unset: none) returns false. Returns
 *  Catch's exit status, the number of failed ones; not 0 if no case is left. */
int runTests(int argc, char **argv, const std::function<bool(const TestCaseFacts &)> &keep = {});
