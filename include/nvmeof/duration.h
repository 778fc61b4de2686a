// SPDX-License-Identifier: LGPL-2.1-or-later
// Times as a person writes them: seconds, with fractions; the kernel counts milliseconds.
#pragma once

#include <chrono>
#include <string_view>

#include <nvmeof/result.h>

namespace nvmeof {

enum class Never { refused, allowed };

// "2", "0.5", "2s", "300ms"; with Never::allowed also -1. At most 2^31 - 1 ms; less than a millisecond only when 0.
Result<std::chrono::milliseconds> parseSeconds(std::string_view text, Never never = Never::refused);

} // namespace nvmeof
