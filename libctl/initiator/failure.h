// SPDX-License-Identifier: LGPL-2.1-or-later
// Why a connection to a controller failed or ended
#pragma once

#include <cstdint>
#include <string>

namespace initiator {

// Steps of a host, in this order
enum class Step : std::uint8_t {
	tcp,      // connect over TCP
	hello,    // ICReq, ICResp
	connect,  // Connect
	cap,      // Property Get of CAP
	vs,       // Property Get of VS
	enable,   // Property Set of CC
	ready,    // Property Get of CSTS, until RDY is set
	identify, // Identify Controller
	events,   // Set Features for events; skipped if there are none
	live,     // used by the caller
};
const char *toString(Step step);

enum class Reason : std::uint8_t {
	none,
	local,       // no socket, port or memory left
	refused,     // connection refused
	unreachable, // no route
	timedOut,    // no response in time
	closed,      // closed by the peer in an orderly way
	reset,
	terminated, // Term PDU from the controller
	protocol,   // protocol violation by the peer
	digest,     // data digest error
	busy,       // Connect Controller Busy
	status,     // a command failed
	unusable,   // a successful response that cannot be used
};
const char *toString(Reason reason); // identifier for programs: "timed_out"

struct Failure {
	Reason reason = Reason::none;
	Step step = Step::tcp;
	std::uint32_t number = 0; // errno, NVMe status, or status of a Term PDU
	const char *what = "";    // for messages; a constant

	explicit operator bool() const { return reason != Reason::none; }
};

Failure failureOfErrno(int error);
Failure failureOfStatus(std::uint16_t status, const char *what);
// "no answer in time (identify)"
std::string describe(const Failure &failure);

} // namespace initiator
