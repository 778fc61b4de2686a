// SPDX-License-Identifier: LGPL-2.1-or-later
// What an instance counts, from its start on; written by its workers, read by anybody.
#pragma once

#include <atomic>
#include <cstdint>

namespace cdc {

using Counter = std::atomic<std::uint64_t>;

struct Counters {
	Counter accepted{0};      // connections
	Counter tooMany{0};       // that were closed at once: of all, or of one address
	Counter hosts{0};         // Connect commands that ended well
	Counter refused{0};       // that did not
	Counter waited{0};        // that were admitted later
	Counter busy{0};          // that were told so
	Counter logReads{0};      // of the discovery log, pieces
	Counter bytesSent{0};     //
	Counter events{0};        // told
	Counter registrations{0}; // of hosts and of discovery controllers
	Counter registrationsRefused{0};
	Counter deferred{0}; // registrations that are to be tried again: too many at once, or too often
	Counter faults{0};   // connections ended for what came over them
	Counter late{0};     // for what did not come in time
	Counter open{0};     // connections there are
	Counter pushed{0};   // that hosts were told of changes
	Counter merged{0};   // changes told together with others, since they came so fast
};

inline void count(Counter &counter, std::uint64_t more = 1)
{
	counter.fetch_add(more, std::memory_order_relaxed);
}

} // namespace cdc
