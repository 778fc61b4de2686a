/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <string>

/** All test cases of the program that the command line selects; Catch's exit status, the number of failed ones. Cases
 *  with the tag `without` (empty: none) are left out, and named on stdout: "REASON: NAME"; if none is left, the status
 *  is not 0. */
int runTests(int argc, char **argv, const std::string &without = "", const std::string &reason = "");
