// SPDX-License-Identifier: LGPL-2.1-or-later
// Kinds of random mutation of what a target sends.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace target {

enum class Mutation : std::uint8_t {
	field,    // a field of the PDU header; digests are correct
	shorten,  // data truncated; lengths and digests are correct
	payload,  // a field of Identify or log page data
	flip,     // bits of the PDU as sent
	corrupt,  // bits of its data as sent
	truncate, // the end of the PDU is missing
	garbage,  // random bytes inserted
	splice,   // the end of another PDU
	twice,    // sent twice
	replay,   // an earlier PDU is sent again
	swap,     // sent after the next PDU
	forge,    // a completion for a command that is not outstanding
	event,    // an asynchronous event of any kind
	term,     // C2HTermReq
	drop,     // not sent
	delay,    // sent late
	dribble,  // sent in pieces
	close,    // the connection is closed after part of the PDU
	reset,    // the connection is reset after part of the PDU
};

constexpr std::size_t mutationKinds = std::size_t(Mutation::reset) + 1;
using MutationCounts = std::array<std::atomic<std::uint64_t>, mutationKinds>;

const char *toString(Mutation kind);

} // namespace target
