// SPDX-License-Identifier: LGPL-2.1-or-later
// A UUID: 16 bytes in the order of its text form, which is also the byte order of a host identifier on the wire.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace nvmeof {

struct Uuid {
	std::array<std::uint8_t, 16> bytes{};

	bool operator==(const Uuid &) const = default;
	bool isNil() const;

	std::string toString() const;                            // 8-4-4-4-12, lower case
	static std::optional<Uuid> parse(std::string_view text); // 8-4-4-4-12, either case
	static Uuid random();                                    // version 4, RFC 9562
};

} // namespace nvmeof
