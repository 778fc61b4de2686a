/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <functional>

namespace Catch {
class TestCase;
}

/** Run the test cases that the command line selects, less those for which `keep` (unset: none) returns false. Returns
 *  Catch's exit status, the number of failed ones; not 0 if no case is left. */
int runTests(int argc, char **argv, const std::function<bool(const Catch::TestCase &)> &keep = {});
