// SPDX-License-Identifier: LGPL-2.1-or-later
// Makes a change that hosts get an event for, and waits until it is made.
#pragma once

#include <memory>

#include "options.h"

namespace storm {

class Push {
public:
	virtual ~Push() = default;
	// Makes the change and waits for it. Empty: done; otherwise an error message
	virtual std::string make(unsigned round) = 0;
};

// Throws std::system_error if the socket cannot be connected.
std::unique_ptr<Push> makePush(const PushOptions &options);

} // namespace storm
