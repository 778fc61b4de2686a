// SPDX-License-Identifier: LGPL-2.1-or-later
#include "guard.h"

#include <atomic>

#include <syslog.h>

#include "journal.h"

namespace serving {

namespace {

std::atomic<std::uint64_t> caught{0};

} // namespace

std::uint64_t caughtExceptions()
{
	return caught.load(std::memory_order_relaxed);
}

void caughtException(const char *what) noexcept
{
	static LogLimit limit;
	caught.fetch_add(1, std::memory_order_relaxed);
	try {
		say(limit, LOG_ERR,
		    std::string("a callback threw an exception: ") + what + "; this is a defect, please report it");
	} catch (...) { // out of memory: it is only counted
	}
}

} // namespace serving
