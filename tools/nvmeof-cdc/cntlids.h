// SPDX-License-Identifier: LGPL-2.1-or-later
// Allocates controller IDs; each is used by one controller at a time. Shared by all workers.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "libctl/wire/discovery_log.h"

namespace cdc {

class Cntlids {
public:
	std::optional<std::uint16_t> take()
	{
		std::lock_guard lock(mutex_);
		for (std::size_t tries = 0; tries < used_.size(); tries++) {
			next_ = next_ % (used_.size() - 1) + 1; // never 0; a freed ID is reused as late as possible
			if (!used_[next_]) {
				used_[next_] = true;
				return static_cast<std::uint16_t>(next_);
			}
		}
		return {};
	}
	void give(std::uint16_t cntlid)
	{
		std::lock_guard lock(mutex_);
		used_[cntlid] = false;
	}

private:
	std::mutex mutex_;
	std::vector<bool> used_ = std::vector<bool>(nofctl::wire::firstReservedCntlid);
	std::size_t next_ = 0;
};

} // namespace cdc
