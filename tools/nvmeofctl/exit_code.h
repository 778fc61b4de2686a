// SPDX-License-Identifier: LGPL-2.1-or-later
// Exit codes of nvmeofctl, which are part of its interface. "doctor" has its own: 0 without findings, 1 with warnings,
// 2 with problems.
#pragma once

#include <nvmeof/error.h>

enum class ExitCode {
	done = 0,
	failed = 1,
	usage = 2,
	noSuchObject = 3,
	alreadyConnected = 4,
	refused = 5,
	timedOut = 6,
	notPermitted = 7,
	noModule = 8,
	otherDriver = 9,
	inUse = 10,
};

ExitCode exitCodeOf(nvmeof::ErrorCode code);

// The meaning of each code, for the manual page
const char *describe(ExitCode code);
