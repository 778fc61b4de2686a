// SPDX-License-Identifier: LGPL-2.1-or-later
// The NBFT files named on the command line, or those of the firmware.
#pragma once

#include <vector>

#include "libctl/nbft/nbft.h"

class Context;

struct NbftTables {
	std::vector<nofctl::nbft::BootTable> tables; // that could be read
	int code = 0;                                // exit code of the first error; errors have been reported
};

NbftTables readNbft(Context &context);
