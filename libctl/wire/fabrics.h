// SPDX-License-Identifier: LGPL-2.1-or-later
// Fabrics commands: Connect and properties; NVMe Base 2.0, 6.
#pragma once

#include "nvme.h"

namespace nofctl::wire {

constexpr const char *wellKnownDiscoveryNqn = "nqn.2014-08.org.nvmexpress.discovery";
constexpr std::uint16_t anyCntlid = 0xffff; // dynamic controller model: the admin Connect assigns the ID

enum FabricsType : std::uint8_t {
	fc_property_set = 0x00,
	fc_connect = 0x01,
	fc_property_get = 0x04,
	fc_auth_send = 0x05,
	fc_auth_receive = 0x06,
};

enum Property : std::uint32_t { prop_cap = 0x00, prop_vs = 0x08, prop_cc = 0x14, prop_csts = 0x1c };

enum ConnectAttribute : std::uint8_t { ca_sqflow_off = 4 };

struct ConnectData {
	std::uint8_t hostid[16];
	Le16 cntlid;
	std::uint8_t reserved[238];
	char subsysnqn[256];
	char hostnqn[256];
	std::uint8_t reserved2[256];
};
static_assert(sizeof(ConnectData) == 1024);

// A Connect command and its data
struct Connect {
	std::uint16_t qid = 0;
	std::uint32_t entries = 32; // queue entries: SQSIZE + 1
	std::uint32_t kato = 0;     // ms
	std::uint8_t attributes = 0;
	std::array<std::uint8_t, 16> hostid{};
	std::uint16_t cntlid = anyCntlid;
	std::string subsysnqn = {}, hostnqn = {};

	Command command() const;
	ConnectData data() const;
	// Nothing if @data has the wrong size.
	static std::optional<Connect> decode(const Command &cmd, std::span<const std::uint8_t> data);
};

Command propertyGet(Property property); // the result has 8 bytes; for 4-byte properties the upper half is zero
Command propertySet(Property property, std::uint32_t value);

} // namespace nofctl::wire
