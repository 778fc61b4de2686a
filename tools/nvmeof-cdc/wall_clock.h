// SPDX-License-Identifier: LGPL-2.1-or-later
// Wall-clock time since 1970, which may jump: for display, and for values that outlive a restart.
#pragma once

#include <chrono>
#include <cstdint>

namespace cdc {

inline double wallSeconds()
{
	return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

inline std::int64_t wallMs()
{
	const auto now = std::chrono::system_clock::now().time_since_epoch();
	return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

} // namespace cdc
