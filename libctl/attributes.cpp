// SPDX-License-Identifier: LGPL-2.1-or-later
#include "attributes.h"

#include <cstring>

#include <linux/netlink.h>

namespace nofctl {

namespace {

constexpr std::size_t aligned(std::size_t length)
{
	return (length + NLA_ALIGNTO - 1) & ~static_cast<std::size_t>(NLA_ALIGNTO - 1);
}

nvmeof::Error malformed(const std::string &what)
{
	nvmeof::Error error;
	error.message = "malformed message from the kernel: " + what;
	return error;
}

} // namespace

nvmeof::Result<Attributes> Attributes::parse(std::span<const std::byte> payload)
{
	Attributes attributes;
	attributes.bytes_.assign(payload.begin(), payload.end());
	std::size_t at = 0;
	while (at < payload.size()) {
		nlattr header;
		if (payload.size() - at < sizeof(header))
			return malformed("attribute header cut short");
		std::memcpy(&header, payload.data() + at, sizeof(header));
		std::uint16_t type = header.nla_type & NLA_TYPE_MASK;
		if (header.nla_len < sizeof(header))
			return malformed("attribute " + std::to_string(type) + " is shorter than its header");
		if (header.nla_len > payload.size() - at)
			return malformed("attribute " + std::to_string(type) + " runs past the end");
		if (type <= NVMEOF_A_MAX)
			attributes.entries_.push_back({type, at + sizeof(header), header.nla_len - sizeof(header)});
		at += aligned(header.nla_len); // the last attribute may lack its padding
	}
	return attributes;
}

std::span<const std::byte> Attributes::payload(const Entry &entry) const
{
	return std::span(bytes_).subspan(entry.offset, entry.length);
}

std::optional<std::span<const std::byte>> Attributes::find(nvmeof_attr type) const
{
	for (const Entry &entry : entries_)
		if (entry.type == type)
			return payload(entry);
	return std::nullopt;
}

std::vector<std::span<const std::byte>> Attributes::findAll(nvmeof_attr type) const
{
	std::vector<std::span<const std::byte>> all;
	for (const Entry &entry : entries_)
		if (entry.type == type)
			all.push_back(payload(entry));
	return all;
}

std::string textOf(std::span<const std::byte> payload)
{
	std::string text(reinterpret_cast<const char *>(payload.data()), payload.size());
	return text.substr(0, text.find('\0'));
}

template <typename T> std::optional<T> numberOf(std::span<const std::byte> payload)
{
	if (payload.size() != sizeof(T))
		return std::nullopt;
	T number;
	std::memcpy(&number, payload.data(), sizeof(number));
	return number;
}

template std::optional<std::uint8_t> numberOf(std::span<const std::byte>);
template std::optional<std::uint16_t> numberOf(std::span<const std::byte>);
template std::optional<std::uint32_t> numberOf(std::span<const std::byte>);
template std::optional<std::int32_t> numberOf(std::span<const std::byte>);
template std::optional<std::uint64_t> numberOf(std::span<const std::byte>);

} // namespace nofctl
