// SPDX-License-Identifier: LGPL-2.1-or-later
// The attributes of one netlink message. All lengths are checked before use.
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
	// Copies @payload. Skips attribute types that this library does not know.
	static nvmeof::Result<Attributes> parse(std::span<const std::byte> payload);

	// Payload of the first attribute of type @type.
	std::optional<std::span<const std::byte>> find(nvmeof_attr type) const;
	// Payloads of all attributes of type @type, in message order.
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

// The text up to the first NUL, or the whole payload.
std::string textOf(std::span<const std::byte> payload);

// Nothing if the payload does not have exactly sizeof(T) bytes.
template <typename T> std::optional<T> numberOf(std::span<const std::byte> payload);

} // namespace nofctl
