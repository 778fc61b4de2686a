// SPDX-License-Identifier: LGPL-2.1-or-later
// The ways in which a target can be wrong: one line of a table each.
#pragma once

#include "config.h"
#include "script.h"

#include <span>
#include <string_view>

namespace target {

// What a host has to do about it. In every case: no crash, no warning, no wrong data, nothing left in flight.
// Of a discovery log, refused: reading it fails; retried, reset: it is read again, and that ends well; harmless: each
// entry that is read can be used.
enum class Expect {
	reset,        // drop the connection, connect again, send the request again: the I/O ends well
	silence,      // the same, once the time for an answer is over
	refused,      // the connect attempt fails, with a message; struck as often as the host tries
	nsRefused,    // the controller is live, the namespace is not used
	scanFailed,   // the controller is live, the scan does not complete, and what has come is used
	unusable,     // the controller is live, its path is not used
	entryRefused, // some entries of the discovery log cannot be used, the others are as they were
	error,        // the command fails, and the connection stays
	harmless,     // nothing: the connection stays, the I/O ends well
	retried,      // the command is sent again and ends well; the connection stays
	bounded,      // not judged by this: the test that arms it does
};

// When it can strike
enum class When {
	connecting,    // armed for ever before the host connects
	io,            // armed for one strike when the controller is live; I/O of all kinds follows
	idle,          // likewise; strikes without I/O
	joining,       // armed for ever at a second port before the host connects to that; the first port is well
	discovery,     // armed for ever before the host connects to the discovery service
	discoveryOnce, // armed for one strike when the discovery controller is live
};

// What the host must have asked for
enum class Needs { nothing, headerDigest, dataDigest, ana, noSqflow, persistent };

struct Misbehaviour {
	const char *name;
	int trap; // row of the table of correctness demands it belongs to
	Hook hook;
	When when;
	Expect expect;
	Needs needs;
	bool (*act)(Strike &); // does it; false: this is not the place
};

std::span<const Misbehaviour> misbehaviours();
// Those of the discovery service, a part of the above
std::span<const Misbehaviour> discoveryMisbehaviours();
// Those of NVMe/RDMA alone, likewise
std::span<const Misbehaviour> rdmaMisbehaviours();
// Of zoned namespaces alone; not a part of the above
std::span<const Misbehaviour> zoneMisbehaviours();
// Of reports of reservations, where this host is registered; those of answers; of formats. Likewise
std::span<const Misbehaviour> reservationMisbehaviours();
std::span<const Misbehaviour> otherReservationMisbehaviours();
std::span<const Misbehaviour> formatMisbehaviours();
// Over a transport some of them have no place to strike.
bool possible(const Misbehaviour &m, Transport transport);
// Null: there is none of that name.
const Misbehaviour *findMisbehaviour(std::string_view name);

const char *toString(Expect expect);

} // namespace target
