// SPDX-License-Identifier: LGPL-2.1-or-later
// What somebody has meant who typed something else.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The one of @words that @typed is a slip of, or the beginning of; nothing if none is near, or several are as near.
std::optional<std::string> closest(std::string_view typed, const std::vector<std::string> &words);
