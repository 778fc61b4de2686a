// SPDX-License-Identifier: LGPL-2.1-or-later
#include "text.h"

#include <algorithm>
#include <arpa/inet.h>

#include <fmt/format.h>

namespace nofctl::nbft {

std::string ipText(const layout::Ip &ip)
{
	constexpr std::uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
	const bool v4 = std::ranges::equal(std::span(ip).first(sizeof(mapped)), mapped);
	const std::span<const std::uint8_t> bytes = std::span(ip).subspan(v4 ? sizeof(mapped) : 0);
	if (std::ranges::all_of(bytes, [](std::uint8_t b) { return b == 0; }))
		return {};
	char text[INET6_ADDRSTRLEN];
	return ::inet_ntop(v4 ? AF_INET : AF_INET6, bytes.data(), text, sizeof(text)) ? text : "";
}

std::string macText(std::span<const std::uint8_t, 6> mac)
{
	if (std::ranges::all_of(mac, [](std::uint8_t b) { return b == 0; }))
		return {};
	return fmt::format("{:02x}:{:02x}:{:02x}:{:02x}:{:02x}:{:02x}", mac[0], mac[1], mac[2], mac[3], mac[4], mac[5]);
}

std::optional<std::string> plainText(std::span<const std::uint8_t> bytes)
{
	std::string text(bytes.begin(), std::ranges::find(bytes, 0));
	auto zero = [](std::uint8_t b) { return b == 0; };
	auto plain = [](unsigned char c) { return c >= ' ' && c < 0x7f; };
	if (!std::ranges::all_of(bytes.subspan(text.size()), zero) || !std::ranges::all_of(text, plain))
		return std::nullopt;
	return text;
}

bool isHostName(std::string_view text)
{
	constexpr std::size_t max = 253; // RFC 1035, 2.3.4
	auto fits = [](char c) {
		return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
		       c == '.' || c == '_';
	};
	return text.size() <= max && std::ranges::all_of(text, fits) && !text.starts_with('-');
}

} // namespace nofctl::nbft
