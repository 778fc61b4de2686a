// SPDX-License-Identifier: LGPL-2.1-or-later
// Prints a line for each misbehaviour that was played, and their number at the end of the program.
#pragma once

#include "support/selection.h"
#include "support/transport.h"
#include "target/misbehaviour.h"

#include <cstdint>
#include <cstdio>

namespace guest {

inline target::Transport transportOfTests()
{
	return overRdma() ? target::Transport::rdma : target::Transport::tcp;
}

// True if it is chosen, possible over this transport, and not specific to RDMA
inline bool played(const target::Misbehaviour &m)
{
	return possible(m, transportOfTests()) && possible(m, target::Transport::tcp) &&
	       isSelected("NVMEOF_MISBEHAVIOUR", m.name);
}

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
