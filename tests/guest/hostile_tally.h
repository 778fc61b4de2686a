// SPDX-License-Identifier: LGPL-2.1-or-later
// A line for each misbehaviour that was played, and their number at the end of the program.
#pragma once

#include "target/misbehaviour.h"

#include <cstdint>
#include <cstdio>

namespace guest {

inline void tellPlayed(const target::Misbehaviour &m, std::uint64_t strikes)
{
	struct Sum {
		unsigned played = 0;
		std::uint64_t strikes = 0;
		~Sum() { std::printf("figure: misbehaviours: %u played, struck %lu times\n", played, strikes); }
	};
	static Sum sum;

	sum.played++;
	sum.strikes += strikes;
	std::printf("misbehaviour: %s: %s, struck %lu times\n", m.name, toString(m.expect), strikes);
	std::fflush(stdout);
}

} // namespace guest
