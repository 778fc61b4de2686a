// SPDX-License-Identifier: LGPL-2.1-or-later
// The ways in which what a target sends is changed at random.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace target {

enum class Mutation : std::uint8_t {
	field,    // a field of the PDU's header, digests still right
	shorten,  // data cut short, lengths and digests right
	payload,  // a field of what Identify or a log page returns
	flip,     // bits of the PDU as it goes out
	corrupt,  // likewise, of its data only
	truncate, // its end is missing
	garbage,  // bytes in between
	splice,   // the end of another one
	twice,    // sent two times
	replay,   // one that was sent before is sent again
	swap,     // sent after the next one
	forge,    // a completion that nobody waits for
	event,    // an asynchronous event of any kind
	term,     // C2HTermReq
	drop,     // not sent
	delay,    // sent late
	dribble,  // sent in pieces
	close,    // the connection ends behind a part of it
	reset,    // likewise, with a reset
};

constexpr std::size_t mutation_kinds = std::size_t(Mutation::reset) + 1;
using MutationCounts = std::array<std::atomic<std::uint64_t>, mutation_kinds>;

const char *toString(Mutation kind);

} // namespace target
