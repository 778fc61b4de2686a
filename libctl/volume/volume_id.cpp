// SPDX-License-Identifier: LGPL-2.1-or-later
#include "volume_id.h"

#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace nofctl::volume {

using nvmeof::Uuid;

namespace {

template <std::size_t n> std::optional<std::array<std::uint8_t, n>> parseHex(std::string_view text)
{
	std::string digits;
	for (char c : text)
		if (c != '-')
			digits += c;
	std::array<std::uint8_t, n> bytes{};
	if (digits.size() != 2 * n)
		return std::nullopt;
	for (std::size_t i = 0; i < n; i++) {
		const char *begin = digits.data() + 2 * i;
		auto [end, error] = std::from_chars(begin, begin + 2, bytes[i], 16);
		if (error != std::errc() || end != begin + 2)
			return std::nullopt;
	}
	return bytes;
}

template <typename T> std::optional<VolumeId> made(const std::optional<T> &value)
{
	return value ? std::optional(VolumeId{*value}) : std::nullopt;
}

std::optional<std::uint32_t> parseNsid(std::string_view text)
{
	std::uint32_t nsid = 0;
	auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), nsid);
	// UINT32_MAX is the broadcast NSID (NVMe Base 2.0, 3.2.1.5)
	if (error != std::errc() || end != text.data() + text.size() || nsid == 0 || nsid == UINT32_MAX)
		return std::nullopt;
	return nsid;
}

std::string hex(const auto &bytes)
{
	return fmt::format("{:02x}", fmt::join(bytes, ""));
}

struct Text {
	std::string operator()(const Uuid &uuid) const { return "uuid." + uuid.toString(); }
	std::string operator()(const Nguid &nguid) const { return "nguid." + hex(nguid); }
	std::string operator()(const Eui64 &eui64) const { return "eui." + hex(eui64); }
	std::string operator()(std::uint32_t nsid) const { return fmt::format("nsid.{}", nsid); }
};

struct Names {
	const nvmeof::Namespace &ns;

	bool operator()(const Uuid &uuid) const { return ns.uuid == uuid; }
	bool operator()(const Nguid &nguid) const { return ns.nguid == nguid; }
	bool operator()(const Eui64 &eui64) const { return ns.eui64 == eui64; }
	bool operator()(std::uint32_t nsid) const { return ns.nsid == nsid; }
};

} // namespace

bool VolumeId::names(const nvmeof::Namespace &ns) const
{
	return std::visit(Names{ns}, value);
}

std::string VolumeId::toString() const
{
	return std::visit(Text(), value);
}

std::optional<VolumeId> VolumeId::parse(std::string_view text)
{
	const std::size_t dot = text.find('.');
	if (dot == text.npos)
		return std::nullopt;
	const std::string_view kind = text.substr(0, dot), rest = text.substr(dot + 1);
	if (kind == "uuid")
		return made(Uuid::parse(rest));
	if (kind == "nguid")
		return made(parseHex<16>(rest));
	if (kind == "eui")
		return made(parseHex<8>(rest));
	return kind == "nsid" ? made(parseNsid(rest)) : std::nullopt;
}

} // namespace nofctl::volume
