// SPDX-License-Identifier: LGPL-2.1-or-later
// The tables that a command line names, or that the firmware has left.
#pragma once

#include <vector>

#include "libctl/nbft/nbft.h"

class Context;

struct NbftTables {
	std::vector<nofctl::nbft::BootTable> tables; // that could be read
	int code = 0;                                // of the first that could not, which is told of
};

NbftTables readNbft(Context &context);
