// SPDX-License-Identifier: LGPL-2.1-or-later
// Why a connection to a controller came to nothing, or to its end.
#pragma once

#include <cstdint>
#include <string>

namespace initiator {

// What a host does, one after the other
enum class Step : std::uint8_t {
	tcp,      // connect over TCP
	hello,    // ICReq, ICResp
	connect,  // Connect
	cap,      // Property Get
	vs,       //
	enable,   // Property Set of CC
	ready,    // Property Get of CSTS, until it is
	identify, // Identify Controller
	events,   // Set Features, of events; left out where there are none
	live,     // what comes then is the user's
};
const char *toString(Step step);

enum class Reason : std::uint8_t {
	none,
	local,       // this machine has no socket, port or memory left
	refused,     // nobody listens
	unreachable, // no way there
	timedOut,    // no answer in time
	closed,      // in order
	reset,
	terminated, // by a Term PDU of the controller's
	protocol,   // what came is against it
	digest,     // damaged
	busy,       // the service has no time for this host now
	status,     // of a command, that is not good
	unusable,   // a good answer that is of no use
};
const char *toString(Reason reason); // a word for programs: "timed_out"

struct Failure {
	Reason reason = Reason::none;
	Step step = Step::tcp;
	std::uint32_t number = 0; // errno; status; that of a Term PDU
	const char *what = "";    // for people; a constant

	explicit operator bool() const { return reason != Reason::none; }
};

Failure failureOfErrno(int error);
Failure failureOfStatus(std::uint16_t status, const char *what);
// "no answer in time (identify)"
std::string describe(const Failure &failure);

} // namespace initiator
