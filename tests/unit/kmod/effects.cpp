// SPDX-License-Identifier: LGPL-2.1-or-later
#include <catch2/catch.hpp>

#include <algorithm>
#include <memory>

extern "C" {
#include <linux/nvme.h>

#include "wire/effects.h"
}

namespace {

constexpr uint32_t supported = NVME_CMD_EFFECTS_CSUPP, changesBlocks = NVME_CMD_EFFECTS_LBCC;
constexpr uint32_t alone = 1 << 16, relaxed = 1 << 14, ofOneNamespace = 1 << 20;

struct Log {
	std::unique_ptr<nvme_effects_log> log = std::make_unique<nvme_effects_log>();
	nof_effects out{};

	uint8_t io(uint8_t opcode, uint32_t effects, uint8_t csi = NVME_CSI_NVM)
	{
		log->iocs[opcode] = effects;
		nof_effects_io(log.get(), csi, &out);
		return out.of[opcode];
	}
	uint8_t admin(uint8_t opcode, uint32_t effects)
	{
		log->acs[opcode] = effects;
		nof_effects_admin(log.get(), &out);
		return out.of[opcode];
	}
};

constexpr uint8_t readers = NOF_EFFECT_READER_OK | NOF_EFFECT_WRITER_OK, writers = NOF_EFFECT_WRITER_OK;
constexpr uint8_t stops = NOF_EFFECT_STOPS_IO | NOF_EFFECT_RESCAN;

} // namespace

TEST_CASE("effects: an I/O command is allowed if the log marks it supported and harmless")
{
	Log log;
	CHECK(log.io(nvme_cmd_read, supported) == readers);
	CHECK(log.io(nvme_cmd_flush, supported) == readers);
	CHECK(log.io(nvme_cmd_verify, supported | ofOneNamespace | NVME_CMD_EFFECTS_UUID_SEL) == readers);
	CHECK(log.io(nvme_cmd_read, 0) == 0);
	CHECK(log.io(nvme_cmd_read, supported | alone) == 0);
	CHECK(log.io(nvme_cmd_read, supported | NVME_CMD_EFFECTS_NCC) == 0);
	CHECK(log.io(nvme_cmd_read, supported | NVME_CMD_EFFECTS_NIC) == 0);
	CHECK(log.io(nvme_cmd_read, supported | NVME_CMD_EFFECTS_CCC) == 0);
}

TEST_CASE("effects: commands that change blocks or transfer data to the controller need write permission")
{
	Log log;
	CHECK(log.io(nvme_cmd_write, supported) == writers);
	CHECK(log.io(nvme_cmd_write, supported | changesBlocks) == writers);
	CHECK(log.io(nvme_cmd_write_zeroes, supported) == writers);
	CHECK(log.io(nvme_cmd_write_uncor, supported) == writers);
	CHECK(log.io(nvme_cmd_dsm, supported) == writers);
	CHECK(log.io(nvme_cmd_compare, supported) == writers);
	CHECK(log.io(nvme_cmd_flush, supported | changesBlocks) == writers);
}

TEST_CASE("effects: opcodes of an unknown command set are judged by the data direction alone")
{
	constexpr uint8_t keyValue = 1;
	Log log;
	CHECK(log.io(nvme_cmd_write_zeroes, supported, NVME_CSI_ZNS) == writers);
	CHECK(log.io(nvme_cmd_write_zeroes, supported, keyValue) == readers);
	CHECK(log.io(nvme_cmd_write_uncor, supported, keyValue) == readers);
	CHECK(log.io(nvme_cmd_write, supported, keyValue) == writers);
	CHECK(log.io(nvme_cmd_write_zeroes, supported | changesBlocks, keyValue) == writers);
	CHECK(log.io(nvme_cmd_read, 0, keyValue) == 0);
	CHECK(log.io(0x90, supported, keyValue) == 0);
}

TEST_CASE("effects: vendor commands, and all commands without a log, are not allowed")
{
	Log log;
	for (unsigned int opcode = 0x80; opcode < 256; opcode++)
		CHECK(log.io(static_cast<uint8_t>(opcode), supported) == 0);
	nof_effects none;
	nof_effects_io(nullptr, NVME_CSI_NVM, &none);
	CHECK(std::all_of(std::begin(none.of), std::end(none.of), [](uint8_t of) { return !of; }));
}

TEST_CASE("effects: admin commands with restrictions stop I/O")
{
	Log log;
	CHECK(log.admin(0xc2, supported | alone) == stops);
	CHECK(log.admin(0xc2, supported | 2 * alone) == (stops | NOF_EFFECT_ALL_NS));
	CHECK(log.admin(0xc2, supported | NVME_CMD_EFFECTS_NCC) == stops);
	CHECK(log.admin(0xc2, supported | NVME_CMD_EFFECTS_NIC) == stops);
	CHECK(log.admin(0xc2, supported | NVME_CMD_EFFECTS_CCC) == NOF_EFFECT_RESCAN);
	CHECK(log.admin(0xc2, supported | alone | relaxed) == 0);
	CHECK(log.admin(0xc2, supported | changesBlocks) == 0);
	// frequent commands of the driver and its tools never stop I/O
	CHECK(log.admin(nvme_admin_identify, supported | alone) == 0);
	CHECK(log.admin(nvme_admin_get_log_page, supported | alone) == 0);
	CHECK(log.admin(nvme_admin_security_recv, supported | alone) == 0);
}

TEST_CASE("effects: known admin commands stop I/O whatever the log says")
{
	Log log;
	nof_effects none;
	nof_effects_admin(nullptr, &none);
	CHECK(log.admin(nvme_admin_sanitize_nvm, supported) == (stops | NOF_EFFECT_ALL_NS));
	for (auto opcode : {nvme_admin_format_nvm, nvme_admin_ns_mgmt, nvme_admin_ns_attach}) {
		CHECK(log.admin(static_cast<uint8_t>(opcode), supported) == stops);
		CHECK(none.of[opcode] == stops);
	}
	// for firmware activation the log takes precedence, if there is one
	CHECK(none.of[nvme_admin_activate_fw] == (stops | NOF_EFFECT_ALL_NS));
	CHECK(log.admin(nvme_admin_activate_fw, supported) == 0);
	CHECK(log.admin(nvme_admin_activate_fw, supported | alone) == (stops | NOF_EFFECT_ALL_NS));
	CHECK(none.of[nvme_admin_set_features] == 0);
}
