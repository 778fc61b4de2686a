// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nvmeof {

// Which of @words somebody meant who typed @typed; nothing where that is far from all, or as near to two.
std::optional<std::string> closest(std::string_view typed, const std::vector<std::string> &words);

} // namespace nvmeof
