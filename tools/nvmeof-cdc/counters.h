// SPDX-License-Identifier: LGPL-2.1-or-later
// Counters of an instance since its start. Workers update them; any thread may read them.
#pragma once

#include <atomic>
#include <cstdint>

namespace cdc {

using Counter = std::atomic<std::uint64_t>;

struct Counters {
	Counter accepted{0}; // connections
	Counter tooMany{0};  // connections closed at once: limit in all or per address
	Counter hosts{0};    // successful Connect commands
	Counter refused{0};  // refused Connect commands
	Counter waited{0};   // Connect commands that waited for admission
	Counter busy{0};     // Connect commands completed with busy
	Counter logReads{0}; // reads of the discovery log, each piece counted
	Counter bytesSent{0};
	Counter events{0};        // sent to hosts
	Counter registrations{0}; // of hosts and of discovery controllers
	Counter registrationsRefused{0};
	Counter deferred{0}; // registrations completed with a status to retry: too many at once, or too often
	Counter faults{0};   // connections closed for a protocol error
	// Connect commands refused: a host that has to authenticate itself has no key here, or an unusable one; it came
	// without TLS; the identity that it used in TLS is another one
	Counter refusedNoKey{0}, refusedBadKey{0}, refusedPlain{0}, refusedIdentity{0};
	Counter authenticated{0}, authFailed{0}; // authentications
	Counter authAbandoned{0};                // authentications that did not end
	Counter tlsHandshakes{0}, tlsFailed{0};  // the latter with those that did not end
	Counter tlsBusy{0};                      // connections closed because of too many handshakes
	Counter authBusy{0};                     // Connect commands completed with busy: too many authentications
	Counter revoked{0};                      // sessions ended: changed rules or keys do not allow them
	Counter unauthenticated{0};              // commands refused until the host has authenticated itself
	Counter late{0};                         // connections closed for a missed time limit
	Counter open{0};                         // open connections
	Counter pushed{0};                       // publications of changes to hosts
	Counter merged{0};                       // changes merged into a later publication
};

inline void count(Counter &counter, std::uint64_t more = 1)
{
	counter.fetch_add(more, std::memory_order_relaxed);
}

} // namespace cdc
