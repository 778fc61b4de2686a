// SPDX-License-Identifier: LGPL-2.1-or-later
// Tables that netlink_table.py generates from Documentation/netlink/specs/nvmeof.yaml
#pragma once

#include <cstdint>
#include <span>

namespace guest::spec {

enum class Type { pad_, u8_, u16_, u32_, u64_, s32_, string_, binary_, flag_ };

struct Attribute {
	std::uint16_t id;
	const char *name;
	Type type;
	unsigned longest; // bytes without the NUL; 0: unspecified
	unsigned exact;   // bytes; 0: unspecified
	unsigned values;  // number of enumeration values; 0: not an enumeration
	bool multi;
};

struct Command {
	std::uint8_t id;
	const char *name;
	bool admin, dump, event;
	std::span<const std::uint16_t> asks, dumps, answers; // attributes
};

} // namespace guest::spec
