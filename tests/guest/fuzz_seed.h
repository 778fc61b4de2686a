// SPDX-License-Identifier: LGPL-2.1-or-later
// NVMEOF_FUZZ_SEED: which way a fuzzing program goes; at random when it is not given.
#pragma once

#include <cstdint>
#include <cstdio>
#include <random>
#include <string>

#include "support/shell.h"

namespace guest {

// The same each time in one program, and printed, so that the run can be had again.
inline std::uint64_t fuzzSeed(const char *program)
{
	static const std::uint64_t value = [] {
		auto text = environment("NVMEOF_FUZZ_SEED", "");
		return text.empty() ? std::random_device{}() : std::stoull(text);
	}();
	std::printf("%s: NVMEOF_FUZZ_SEED=%lu\n", program, static_cast<unsigned long>(value));
	std::fflush(stdout);
	return value;
}

} // namespace guest
