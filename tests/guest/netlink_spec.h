// SPDX-License-Identifier: LGPL-2.1-or-later
// What netlink_table.py makes of Documentation/netlink/specs/nvmeof.yaml: shape of the tables.
#pragma once

#include <cstdint>
#include <span>

namespace guest::spec {

enum class Type { pad_, u8_, u16_, u32_, u64_, s32_, string_, binary_, flag_ };

struct Attribute {
	std::uint16_t id;
	const char *name;
	Type type;
	unsigned longest; // bytes without the NUL; 0: not said
	unsigned exact;   // bytes; 0: not said
	unsigned values;  // of its enumeration; 0: it has none
	bool multi;
};

struct Command {
	std::uint8_t id;
	const char *name;
	bool admin, dump, event;
	std::span<const std::uint16_t> asks, dumps, answers; // attributes
};

} // namespace guest::spec
