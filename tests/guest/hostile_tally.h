// SPDX-License-Identifier: LGPL-2.1-or-later
// A line for each misbehaviour that was played; the last one of a run has their number.
#pragma once

#include "target/misbehaviour.h"

#include <cstdint>
#include <cstdio>

namespace guest {

inline void tellPlayed(const target::Misbehaviour &m, std::uint64_t strikes)
{
	static unsigned played = 0;
	std::printf("misbehaviour %u: %s: %s, struck %lu times\n", ++played, m.name, toString(m.expect), strikes);
	std::fflush(stdout);
}

} // namespace guest
