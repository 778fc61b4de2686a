// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * An exception in a callback of an event loop ends neither the loop nor the program: it is counted and logged, and the
 * peer on whose behalf the callback ran is closed by the caller. No exception may pass through sd-event, libmicrohttpd
 * or a thread's main function: std::terminate() would follow.
 */
#pragma once

#include <cstdint>
#include <exception>

namespace serving {

// Number of exceptions caught in this process; from any thread
std::uint64_t caughtExceptions();
// Used by guarded(): counts an exception, and logs it with a rate limit.
void caughtException(const char *what) noexcept;

// Runs @call. False: it has thrown an exception.
template <typename Call> bool guarded(Call &&call) noexcept
{
	try {
		call();
		return true;
	} catch (const std::exception &e) {
		caughtException(e.what());
	} catch (...) {
		caughtException("an exception of an unknown type");
	}
	return false;
}

} // namespace serving
