// SPDX-License-Identifier: LGPL-2.1-or-later
// Times as a user types them: seconds, with fractions. The kernel counts milliseconds.
#pragma once

#include <chrono>
#include <string_view>

#include <nvmeof/result.h>

namespace nvmeof {

enum class Never { refused, allowed };

// Accepts "2", "0.5", "2s", "300ms"; with Never::allowed also "-1". At most 2^31 - 1 ms. Only 0 may be less than 1 ms.
// Errors: invalid.
Result<std::chrono::milliseconds> parseSeconds(std::string_view text, Never never = Never::refused);

} // namespace nvmeof
