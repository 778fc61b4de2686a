// SPDX-License-Identifier: LGPL-2.1-or-later
#include <catch2/catch.hpp>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

extern "C" {
#include "wire/identify.h"
#include "wire/zone.h"
}

namespace {

constexpr u64 size = 2048, capacity = 1536;

// The format of a namespace with 64 zones
nof_ns_format zoned()
{
	nof_ns_format f = {};
	f.nlbas = 64 * size;
	f.lba_shift = 9;
	f.lbaf = 1;
	return f;
}

std::string zoneRefusal(const std::function<void(nvme_id_ns_zns &)> &edit, nof_ns_format *out = nullptr)
{
	nvme_id_ns_zns id = {};
	auto f = zoned();
	id.lbafe[1].zsze = htole64(size);
	id.mar = htole32(9);
	id.mor = htole32(4);
	edit(id);
	const char *why = nof_identify_zns(&id, &f);
	if (out)
		*out = f;
	return why ? why : "";
}

nvme_zone_descriptor descriptor(u64 start, u8 state, u64 wp)
{
	nvme_zone_descriptor d = {};
	d.zt = NVME_ZONE_TYPE_SEQWRITE_REQ;
	d.zs = u8(state << 4);
	d.zcap = htole64(capacity);
	d.zslba = htole64(start);
	d.wp = htole64(wp);
	return d;
}

std::string told(const nvme_zone_descriptor &d, u64 start, nof_zone *zone)
{
	const char *why = nof_zone_decode(&d, start, size, zone);
	return why ? why : "";
}

nof_zone made(u8 state, u64 wp)
{
	nof_zone zone;
	REQUIRE(told(descriptor(size, state, wp), size, &zone).empty());
	return zone;
}

int count(u64 nr, u32 len, u64 most)
{
	std::vector<u8> buf(std::max<std::size_t>(len, sizeof(nvme_zone_report)));
	auto *report = reinterpret_cast<nvme_zone_report *>(buf.data());
	const char *why;
	report->nr_zones = htole64(nr);
	int ret = nof_zone_count(report, len, most, &why);
	CHECK((ret < 0) == (why != nullptr));
	return ret;
}

} // namespace

TEST_CASE("Identify of the zoned command set is decoded", "[zone]")
{
	nof_ns_format f;
	CHECK(zoneRefusal([](auto &) {}, &f).empty());
	CHECK(f.zone_blocks == size);
	CHECK(f.max_open == 5);
	CHECK(f.max_active == 10);
	CHECK(zoneRefusal([](auto &id) { id.mar = id.mor = htole32(0xffffffff); }, &f).empty());
	CHECK(f.max_open == 0);
	CHECK(f.max_active == 0);
	// as many as zones exist: no limit
	CHECK(zoneRefusal([](auto &id) { id.mar = id.mor = htole32(63); }, &f).empty());
	CHECK(f.max_active == 0);
	CHECK(zoneRefusal([](auto &id) { id.zoc = htole16(2); }).find("ZOC") == 0);
	for (u64 bad : {u64(0), u64(3), size - 1, u64(1) << 62, u64(1) << 32})
		CHECK(zoneRefusal([bad](auto &id) { id.lbafe[1].zsze = htole64(bad); }).find("ZSZE") == 0);
	CHECK(zoneRefusal([](auto &id) { id.lbafe[1].zsze = htole64(64 * size * 2); }).find("NSZE") == 0);
	CHECK(zoneRefusal([](auto &id) { id.mor = htole32(10); }).find("MOR") == 0);
	CHECK(zoneRefusal([](auto &id) { id.mor = htole32(0xffffffff); }).find("MOR") == 0);

	nvme_id_ctrl_zns ctrl = {};
	CHECK(nof_identify_zasl(&ctrl, 0) == 0xffffffff);
	ctrl.zasl = 5;
	CHECK(nof_identify_zasl(&ctrl, 0) == 128 << 10);
	ctrl.zasl = 255;
	CHECK(nof_identify_zasl(&ctrl, 0) == 0xffffffff);
}

TEST_CASE("the number of zones in a report is validated", "[zone]")
{
	CHECK(count(1, 128, 1) == 1);
	CHECK(count(3, 64 + 3 * 64, 10) == 3);
	CHECK(count(2, 64 + 3 * 64, 10) == 2);
	CHECK(count(0, 128, 1) < 0);
	CHECK(count(2, 128, 10) < 0);
	CHECK(count(~0ull, 4096, 10) < 0);
	CHECK(count(3, 4096, 2) < 0);
	CHECK(count(1, 63, 1) < 0);
	CHECK(count(1, 127, 1) < 0);
}

TEST_CASE("a zone descriptor is validated", "[zone]")
{
	nof_zone zone;
	CHECK(told(descriptor(size, NOF_ZONE_IMPLICIT, size + 8), size, &zone).empty());
	CHECK(zone.wp == size + 8);
	CHECK(told(descriptor(size, NOF_ZONE_EMPTY, 77), size, &zone).empty());
	CHECK(zone.wp == size);
	CHECK(told(descriptor(size, NOF_ZONE_FULL, ~0ull), size, &zone).empty());
	CHECK(zone.wp == size + capacity);
	CHECK_FALSE(told(descriptor(0, NOF_ZONE_EMPTY, 0), size, &zone).empty());
	CHECK_FALSE(told(descriptor(size, NOF_ZONE_CLOSED, size - 1), size, &zone).empty());
	CHECK_FALSE(told(descriptor(size, NOF_ZONE_EXPLICIT, size + capacity + 1), size, &zone).empty());
	for (u8 state : {0, 5, 12})
		CHECK_FALSE(told(descriptor(size, state, size), size, &zone).empty());
	for (u64 bad : {u64(0), size + 1, ~u64(0)}) {
		auto d = descriptor(size, NOF_ZONE_EMPTY, size);
		d.zcap = htole64(bad);
		CHECK_FALSE(told(d, size, &zone).empty());
	}
	auto d = descriptor(size, NOF_ZONE_EMPTY, size);
	d.zt = 1;
	CHECK_FALSE(told(d, size, &zone).empty());
}

TEST_CASE("the outcome of a lost command is judged by the state of its zone", "[zone]")
{
	auto write = [](const nof_zone &zone, u64 from, u64 to) {
		return nof_zone_judge(&zone, NOF_ZONE_ACT_WRITE, from, to);
	};
	auto open = made(NOF_ZONE_IMPLICIT, size + 16);
	CHECK(write(open, size + 8, size + 16) == NOF_ZONE_DONE);
	CHECK(write(open, size, size + 8) == NOF_ZONE_DONE);
	CHECK(write(open, size + 16, size + 24) == NOF_ZONE_AGAIN);
	CHECK(write(open, size + 8, size + 24) == NOF_ZONE_UNDECIDED); // executed in part
	CHECK(write(open, size + 24, size + 32) == NOF_ZONE_UNDECIDED);
	auto empty = made(NOF_ZONE_EMPTY, size);
	CHECK(write(empty, size, size + 8) == NOF_ZONE_AGAIN);
	CHECK(write(empty, size + 8, size + 16) == NOF_ZONE_UNDECIDED);
	auto full = made(NOF_ZONE_FULL, 0);
	CHECK(write(full, size, size + capacity) == NOF_ZONE_DONE);
	CHECK(write(full, size, size + 8) == NOF_ZONE_UNDECIDED);
	full.finished_by_ctrl = true;
	CHECK(write(full, size, size + capacity) == NOF_ZONE_UNDECIDED);
	for (u8 state : {NOF_ZONE_READ_ONLY, NOF_ZONE_OFFLINE})
		CHECK(write(made(state, 0), size, size + capacity) == NOF_ZONE_UNDECIDED);

	struct {
		nof_zone_act act;
		u8 state;
		nof_zone_verdict verdict;
	} const acts[] = {
		{NOF_ZONE_ACT_OPEN, NOF_ZONE_EXPLICIT, NOF_ZONE_DONE},
		{NOF_ZONE_ACT_OPEN, NOF_ZONE_IMPLICIT, NOF_ZONE_AGAIN},
		{NOF_ZONE_ACT_CLOSE, NOF_ZONE_CLOSED, NOF_ZONE_DONE},
		{NOF_ZONE_ACT_CLOSE, NOF_ZONE_EMPTY, NOF_ZONE_DONE},
		{NOF_ZONE_ACT_CLOSE, NOF_ZONE_EXPLICIT, NOF_ZONE_AGAIN},
		{NOF_ZONE_ACT_FINISH, NOF_ZONE_FULL, NOF_ZONE_DONE},
		{NOF_ZONE_ACT_FINISH, NOF_ZONE_CLOSED, NOF_ZONE_AGAIN},
		{NOF_ZONE_ACT_RESET, NOF_ZONE_EMPTY, NOF_ZONE_DONE},
		{NOF_ZONE_ACT_RESET, NOF_ZONE_FULL, NOF_ZONE_AGAIN},
	};
	for (auto &a : acts) {
		auto zone = made(a.state, size + 8);
		INFO(a.act << " " << int(a.state));
		CHECK(nof_zone_judge(&zone, a.act, 0, 0) == a.verdict);
	}
}
