// SPDX-License-Identifier: LGPL-2.1-or-later
#include <catch2/catch.hpp>

#include <map>

extern "C" {
#include <linux/nvme.h>

#include "mpath/repeatable.h"
}

TEST_CASE("a lost command is repeated only if that is harmless", "[repeat]")
{
	struct Rule {
		nof_repeat plain, zoned;
	};
	const std::map<int, Rule> rules = {
		{nvme_cmd_flush, {NOF_REPEAT_FREELY, NOF_REPEAT_FREELY}},
		{nvme_cmd_write, {NOF_REPEAT_FENCED, NOF_REPEAT_NEVER}},
		{nvme_cmd_read, {NOF_REPEAT_FREELY, NOF_REPEAT_FREELY}},
		{nvme_cmd_write_uncor, {NOF_REPEAT_FENCED, NOF_REPEAT_NEVER}},
		{nvme_cmd_compare, {NOF_REPEAT_FREELY, NOF_REPEAT_FREELY}},
		{nvme_cmd_write_zeroes, {NOF_REPEAT_FENCED, NOF_REPEAT_NEVER}},
		{nvme_cmd_dsm, {NOF_REPEAT_FENCED, NOF_REPEAT_FENCED}},
		{nvme_cmd_verify, {NOF_REPEAT_FREELY, NOF_REPEAT_FREELY}},
		{nvme_cmd_resv_report, {NOF_REPEAT_FREELY, NOF_REPEAT_FREELY}},
		{0x12, {NOF_REPEAT_FREELY, NOF_REPEAT_FREELY}}, // I/O Management Receive
		{nvme_cmd_zone_mgmt_recv, {NOF_REPEAT_NEVER, NOF_REPEAT_FREELY}},
	};
	// all other opcodes, those of vendors included: never
	for (int opcode = 0; opcode < 256; opcode++) {
		CAPTURE(opcode);
		auto at = rules.find(opcode);
		auto rule = at == rules.end() ? Rule{NOF_REPEAT_NEVER, NOF_REPEAT_NEVER} : at->second;
		CHECK(nof_repeat_of(u8(opcode), false) == rule.plain);
		CHECK(nof_repeat_of(u8(opcode), true) == rule.zoned);
	}
}

TEST_CASE("of an unknown command set only the common commands are repeated", "[repeat]")
{
	for (int opcode = 0; opcode < 256; opcode++) {
		CAPTURE(opcode);
		bool common = opcode == nvme_cmd_flush || opcode == nvme_cmd_resv_report || opcode == 0x12;
		CHECK(nof_repeat_of_any(u8(opcode)) == (common ? NOF_REPEAT_FREELY : NOF_REPEAT_NEVER));
	}
}
