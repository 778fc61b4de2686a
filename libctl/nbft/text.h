// SPDX-License-Identifier: LGPL-2.1-or-later
// What stands in a table, as text.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "layout.h"

namespace nofctl::nbft {

std::string ipText(const layout::Ip &ip);                    // empty: none
std::string macText(std::span<const std::uint8_t, 6> bytes); // empty: none
// Up to a NUL, after which there is nothing else; printable ASCII. Nothing: it is something else.
std::optional<std::string> plainText(std::span<const std::uint8_t> bytes);
bool isHostName(std::string_view text);

} // namespace nofctl::nbft
