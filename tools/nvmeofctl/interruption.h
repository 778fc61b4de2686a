// SPDX-License-Identifier: LGPL-2.1-or-later
// Turns SIGINT, SIGTERM and SIGHUP into a stop request, so that a library call can clean up before it returns.
#pragma once

#include <atomic>
#include <stop_token>
#include <thread>

#include "signals.h"

// The signals do not end the process while this object exists. Its owner ends the process if caught() returns one.
class Interruption {
public:
	Interruption();

	std::stop_token token() const { return stop_.get_token(); }
	// Stops watching. Returns the signal caught, or 0.
	int caught();

private:
	void watch(const std::stop_token &end);

	Signals signals_;
	std::stop_source stop_;
	std::atomic<int> caught_ = 0;
	std::jthread watcher_;
};
