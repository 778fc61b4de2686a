/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/** All test cases of the program that the command line selects; Catch's exit status, the number of failed ones. */
int runTests(int argc, char **argv);
