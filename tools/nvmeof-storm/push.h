// SPDX-License-Identifier: LGPL-2.1-or-later
// Makes a change that hosts are to hear of, and knows when it has been made.
#pragma once

#include <memory>

#include "options.h"

namespace storm {

class Push {
public:
	virtual ~Push() = default;
	// Makes it and waits until that is done. Empty: it is. Else why not, for people
	virtual std::string make(unsigned round) = 0;
};

// Throws std::system_error where the socket cannot be had.
std::unique_ptr<Push> makePush(const PushOptions &options);

} // namespace storm
