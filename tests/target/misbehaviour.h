// SPDX-License-Identifier: LGPL-2.1-or-later
// Tables of ways in which a target can violate the protocol, one line each.
#pragma once

#include "config.h"
#include "script.h"

#include <span>
#include <string_view>

namespace target {

// The required behaviour of the host. In every case: no crash, no kernel warning, no wrong data, nothing left in
// flight. For the discovery log, `refused` means that reading it fails; `retried` and `reset`: it is read again,
// successfully; `harmless`: each entry that is read can be used.
enum class Expect {
	reset,        // drop the connection, reconnect, retry the request: the I/O succeeds
	silence,      // as reset, but only after the response timeout
	refused,      // the connect attempt fails with a message; occurs at every attempt
	nsRefused,    // the controller is live, but the namespace is not used
	scanFailed,   // the controller is live, the scan does not complete, and the namespaces read so far are used
	unusable,     // the controller is live, but its path is not used
	entryRefused, // some entries of the discovery log cannot be used, the others are unaffected
	error,        // the command fails, the connection stays up
	harmless,     // nothing: the connection stays up, the I/O succeeds
	retried,      // the command is retried and succeeds; the connection stays up
	judgedByTest, // judged only by the test that arms it
};

// When it is armed.
enum class When {
	connecting,    // always armed, before the host connects
	io,            // armed for one strike once the controller is live; I/O of all kinds follows
	idle,          // as io, but strikes without I/O
	joining,       // always armed on a second port before the host connects to it; the first port behaves
	withSecrets,   // as connecting, to a target that authenticates hosts
	discovery,     // always armed, before the host connects to the discovery service
	discoveryOnce, // armed for one strike once the discovery controller is live
};

// The options with which the host must connect.
// mutual: the controller has to authenticate itself, too; dhGroup: the target chooses ffdhe2048; channel: both, and
// secure channel concatenation.
enum class Needs { nothing, headerDigest, dataDigest, ana, noSqflow, persistent, mutual, dhGroup, channel };

struct Misbehaviour {
	const char *name;
	int trap; // row of the trap table in tests/guest/README.md
	Hook hook;
	When when;
	Expect expect;
	Needs needs;
	bool (*act)(Strike &); // Applies it. False: not at this event.
};

std::span<const Misbehaviour> misbehaviours();
// Data of reads and writes, NVMe/TCP only; included in misbehaviours().
std::span<const Misbehaviour> dataMisbehaviours();
// The discovery service; included in misbehaviours().
std::span<const Misbehaviour> discoveryMisbehaviours();
// NVMe/RDMA only; included in misbehaviours().
std::span<const Misbehaviour> rdmaMisbehaviours();
// Zoned namespaces; not included in misbehaviours().
std::span<const Misbehaviour> zoneMisbehaviours();
// Reservation reports, for a registered host; completions of reservation commands; namespace formats. Not included in
// misbehaviours().
std::span<const Misbehaviour> reservationMisbehaviours();
std::span<const Misbehaviour> otherReservationMisbehaviours();
std::span<const Misbehaviour> formatMisbehaviours();
// Authentication; not included in misbehaviours().
std::span<const Misbehaviour> authMisbehaviours();
// Secure channel concatenation; not included in misbehaviours().
std::span<const Misbehaviour> channelMisbehaviours();
// Whether the hook exists over this transport.
bool possible(const Misbehaviour &m, Transport transport);
// Null if the name is unknown.
const Misbehaviour *findMisbehaviour(std::string_view name);

const char *toString(Expect expect);

} // namespace target
