// SPDX-License-Identifier: LGPL-2.1-or-later
// The attributes of one netlink message, bounds checked. Nothing about a length is believed before it is compared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <linux/nvmeof.h>
#include <nvmeof/result.h>

namespace nofctl {

class Attributes {
public:
	// @payload is copied. Types that this library does not know are left out.
	static nvmeof::Result<Attributes> parse(std::span<const std::byte> payload);

	// Payload of the first attribute of that type.
	std::optional<std::span<const std::byte>> find(nvmeof_attr type) const;
	// Of all of them, in order.
	std::vector<std::span<const std::byte>> findAll(nvmeof_attr type) const;

private:
	struct Entry {
		std::uint16_t type;
		std::size_t offset;
		std::size_t length;
	};

	std::span<const std::byte> payload(const Entry &entry) const;

	std::vector<std::byte> bytes_;
	std::vector<Entry> entries_;
};

// Text up to the first NUL, or the whole.
std::string textOf(std::span<const std::byte> payload);

// A value of exactly sizeof(T) bytes.
template <typename T> std::optional<T> numberOf(std::span<const std::byte> payload);

} // namespace nofctl
