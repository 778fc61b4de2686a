// SPDX-License-Identifier: LGPL-2.1-or-later
// Converts fields of the table to text.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "layout.h"

namespace nofctl::nbft {

std::string ipText(const layout::Ip &ip);                    // empty: no address
std::string macText(std::span<const std::uint8_t, 6> bytes); // empty: no address
// Printable ASCII, optionally padded with NULs. Nothing for other content.
std::optional<std::string> plainText(std::span<const std::uint8_t> bytes);
bool isHostName(std::string_view text);

} // namespace nofctl::nbft
