// SPDX-License-Identifier: LGPL-2.1-or-later
// Entry point of libFuzzer.
#include "input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
	fuzz(Input({data, size}));
	return 0;
}
