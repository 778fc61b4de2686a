// SPDX-License-Identifier: LGPL-2.1-or-later
// main() of the test programs that define none themselves.
#include "run.h"

int main(int argc, char **argv)
{
	return runTests(argc, argv);
}
