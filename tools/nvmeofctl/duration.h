// SPDX-License-Identifier: LGPL-2.1-or-later
// Times on the command line are seconds, with fractions; the kernel counts milliseconds.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include <nvmeof/result.h>

enum class Never { refused, allowed };

// "2", "0.5"; with Never::allowed also -1. At most 2^31 - 1 ms.
nvmeof::Result<std::chrono::milliseconds> parseSeconds(std::string_view text, Never never);

// "0.5 s", "10 s"
std::string formatSeconds(std::chrono::milliseconds time);
