// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nvmeof {

// The word in @words that @typed most likely stands for. Nothing if no word is close enough, or two are equally close.
std::optional<std::string> closest(std::string_view typed, const std::vector<std::string> &words);

} // namespace nvmeof
