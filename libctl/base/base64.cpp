// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base64.h"

#include <algorithm>
#include <array>

namespace nofctl {

namespace {

constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t noDigit = 0xff;

constexpr std::array<std::uint8_t, 256> valuesOf(std::string_view alphabet)
{
	std::array<std::uint8_t, 256> values{};
	values.fill(noDigit);
	for (std::size_t i = 0; i < alphabet.size(); i++)
		values[static_cast<std::uint8_t>(alphabet[i])] = static_cast<std::uint8_t>(i);
	return values;
}

constexpr auto values = valuesOf(digits);

} // namespace

void encodeBase64(std::span<const std::uint8_t> bytes, char *to)
{
	for (std::size_t i = 0; i < bytes.size(); i += 3) {
		const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
		std::uint32_t group = 0;
		for (std::size_t j = 0; j < 3; j++)
			group = group << 8 | (j < count ? bytes[i + j] : 0u);
		for (std::size_t j = 0; j < 4; j++)
			*to++ = j <= count ? digits[group >> (18 - 6 * j) & 63] : '=';
	}
}

std::optional<std::size_t> decodeBase64(std::string_view text, std::uint8_t *to)
{
	if (text.size() % 4)
		return {};
	for (int i = 0; i < 2 && text.ends_with('='); i++)
		text.remove_suffix(1);
	std::size_t size = 0;
	std::uint32_t group = 0;
	unsigned bits = 0;
	for (const char c : text) {
		const std::uint8_t digit = values[static_cast<std::uint8_t>(c)];
		if (digit == noDigit)
			return {};
		group = group << 6 | digit;
		bits += 6;
		if (bits >= 8) {
			bits -= 8;
			to[size++] = static_cast<std::uint8_t>(group >> bits);
		}
	}
	if (group & ((1u << bits) - 1)) // the encoder sets unused bits to zero
		return {};
	return size;
}

std::string toBase64(std::string_view bytes)
{
	std::string text(base64Size(bytes.size()), '\0');
	encodeBase64({reinterpret_cast<const std::uint8_t *>(bytes.data()), bytes.size()}, text.data());
	return text;
}

std::optional<std::string> ofBase64(std::string_view text)
{
	std::string bytes(text.size() / 4 * 3, '\0');
	const std::optional<std::size_t> size = decodeBase64(text, reinterpret_cast<std::uint8_t *>(bytes.data()));
	if (!size)
		return {};
	bytes.resize(*size);
	return bytes;
}

} // namespace nofctl
