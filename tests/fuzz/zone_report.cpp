// SPDX-License-Identifier: LGPL-2.1-or-later
// Input: Identify Namespace of the zoned command set, a zone report, and the parameters of a lost command that is
// judged by it.
#include "input.h"

extern "C" {
#include <linux/limits.h>

#include "wire/identify.h"
#include "wire/zone.h"
}

namespace {

nof_ns_format namespaceOf(Input &in)
{
	nof_ns_format ns{};
	ns.lba_shift = NOF_MIN_LBA_SHIFT + in.take<u8>() % (NOF_MAX_LBA_SHIFT - NOF_MIN_LBA_SHIFT + 1);
	ns.nlbas = (in.take<u64>() >> 1 >> ns.lba_shift) + 1;
	ns.lbaf = in.take<u8>() % 64;
	ns.pi_type = in.take<u8>() & 3;
	return ns;
}

void checkZones(const nof_ns_format &ns)
{
	expect(ns.zone_blocks && !(ns.zone_blocks & (ns.zone_blocks - 1)), "a zone's size is a power of two");
	expect(ns.nlbas % ns.zone_blocks == 0, "the capacity is whole zones");
	expect(ns.zone_blocks <= u64(U32_MAX) >> (ns.lba_shift - 9), "a zone's sectors fit what the block layer has");
	const u64 zones = ns.nlbas / ns.zone_blocks;
	expect(zones && zones <= U32_MAX, "the number of zones fits too");
	expect(ns.max_open < zones && ns.max_active < zones, "a limit is fewer than there are");
	expect(!ns.max_active || (ns.max_open && ns.max_open <= ns.max_active), "an open zone is an active one");
}

void checkZone(const nof_zone &zone, u64 start, u64 size)
{
	expect(zone.start == start, "zones stand one behind another");
	expect(zone.capacity && zone.capacity <= size, "a zone holds something, and no more than its size");
	expect(zone.state == NOF_ZONE_READ_ONLY || zone.state == NOF_ZONE_OFFLINE || zone.state == NOF_ZONE_FULL ||
		       (zone.wp >= start && zone.wp <= start + zone.capacity),
	       "the write pointer of a zone that can be written is within it");
	expect(zone.state != NOF_ZONE_EMPTY || zone.wp == start, "an empty zone begins at its start");
}

void checkVerdicts(const nof_zone &zone, u64 size, Input &in)
{
	const u64 from = zone.start + in.take<u64>() % size;
	const u64 to = from + 1 + in.take<u64>() % (zone.start + size - from);
	const auto write = nof_zone_judge(&zone, NOF_ZONE_ACT_WRITE, from, to);
	if (zone.state == NOF_ZONE_IMPLICIT || zone.state == NOF_ZONE_EXPLICIT || zone.state == NOF_ZONE_CLOSED) {
		expect(write != NOF_ZONE_DONE || zone.wp >= to, "a write is done when the write pointer is behind it");
		expect(write != NOF_ZONE_AGAIN || zone.wp <= from, "and due when nothing of it is there");
	}
	for (auto act :
	     {NOF_ZONE_ACT_WRITE, NOF_ZONE_ACT_OPEN, NOF_ZONE_ACT_CLOSE, NOF_ZONE_ACT_FINISH, NOF_ZONE_ACT_RESET}) {
		const auto verdict = nof_zone_judge(&zone, act, from, to);
		expect(verdict == NOF_ZONE_DONE || verdict == NOF_ZONE_AGAIN || verdict == NOF_ZONE_UNDECIDED,
		       "a zone that has answered is not one that could not be asked");
	}
}

void checkReport(Bytes bytes, const nof_ns_format &ns, Input &in)
{
	const u64 at = in.take<u64>() % (ns.nlbas / ns.zone_blocks);
	const auto copy = exact(bytes);
	const auto *report = reinterpret_cast<const nvme_zone_report *>(copy.get());
	const char *why = nullptr;
	const int count = nof_zone_count(report, bytes.size(), ns.nlbas / ns.zone_blocks - at, &why);
	if (count < 0 || why) {
		expect(count < 0 && why && *why, "a refusal has a reason, and no zones");
		return;
	}
	expect(count > 0, "a report that is accepted has zones: who reads on comes to an end");
	expect(sizeof(*report) + count * sizeof(report->entries[0]) <= bytes.size(), "they lie within it");
	expect(u64(count) <= ns.nlbas / ns.zone_blocks - at, "and within the namespace");
	for (int i = 0; i < count; i++) {
		nof_zone zone{};
		const u64 start = (at + i) * ns.zone_blocks;
		if (nof_zone_decode(&report->entries[i], start, ns.zone_blocks, &zone))
			return;
		checkZone(zone, start, ns.zone_blocks);
		checkVerdicts(zone, ns.zone_blocks, in);
	}
}

} // namespace

void fuzz(Input in)
{
	nof_ns_format ns = namespaceOf(in);
	const auto page = in.take<nvme_id_ns_zns>();
	if (const char *why = nof_identify_zns(&page, &ns)) {
		expect(*why && !ns.zone_blocks, "a refusal has a reason, and makes no zones");
		return;
	}
	checkZones(ns);
	Bytes report = in.cut(sizeof(nvme_zone_report) + (1 + in.take<u8>()) * sizeof(nvme_zone_descriptor));
	if (report.size() >= sizeof(nvme_zone_report))
		checkReport(report, ns, in);
}
