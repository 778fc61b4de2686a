// SPDX-License-Identifier: LGPL-2.1-or-later
// For programs without a main() of their own.
#include "run.h"

int main(int argc, char **argv)
{
	return runTests(argc, argv);
}
