// SPDX-License-Identifier: LGPL-2.1-or-later
// Base64 with padding (RFC 4648, section 4).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace nofctl {

constexpr std::size_t base64Size(std::size_t bytes)
{
	return (bytes + 2) / 3 * 4;
}

// For secrets, which must not be copied: the caller provides the memory.

// @to: base64Size() characters
void encodeBase64(std::span<const std::uint8_t> bytes, char *to);
// Returns the number of bytes. @to: 3 bytes for each 4 characters. Nothing if @text is not what encodeBase64() writes.
std::optional<std::size_t> decodeBase64(std::string_view text, std::uint8_t *to);

std::string toBase64(std::string_view bytes);
std::optional<std::string> ofBase64(std::string_view text);

} // namespace nofctl
