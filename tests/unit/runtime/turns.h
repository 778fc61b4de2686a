// SPDX-License-Identifier: LGPL-2.1-or-later
// A loop that a test runs repeatedly. A Loop itself cannot run again after its end.
#pragma once

#include <stdexcept>

#include "libctl/runtime/loop.h"

namespace runtime {

class Turns {
public:
	explicit Turns(Loop &loop) : loop_(loop) {}

	// Runs the loop until stop().
	void run()
	{
		stopped_ = false;
		while (!stopped_)
			if (::sd_event_run(loop_.event(), UINT64_MAX) < 0)
				throw std::runtime_error("the event loop failed");
	}
	void stop() { stopped_ = true; }

private:
	Loop &loop_;
	bool stopped_ = false;
};

} // namespace runtime
