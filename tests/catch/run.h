/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <functional>

namespace Catch {
class TestCase;
}

/** All test cases of the program that the command line selects and `keep` (unset: all) returns true for. Returns
 *  Catch's exit status, the number of failed ones; not 0 if none is left. */
int runTests(int argc, char **argv, const std::function<bool(const Catch::TestCase &)> &keep = {});
