// SPDX-License-Identifier: LGPL-2.1-or-later
// Signals that end what a call of the library does, in order, as what it made would else stay.
#pragma once

#include <atomic>
#include <stop_token>
#include <thread>

#include "signals.h"

// From the beginning of this object on they do not end the process: whoever made it does, when caught() tells of one.
class Interruption {
public:
	Interruption();

	std::stop_token token() const { return stop_.get_token(); }
	// Ends the watch. 0: none
	int caught();

private:
	void watch(const std::stop_token &end);

	Signals signals_;
	std::stop_source stop_;
	std::atomic<int> caught_ = 0;
	std::jthread watcher_;
};
