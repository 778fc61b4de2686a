// SPDX-License-Identifier: LGPL-2.1-or-later
#include <catch2/catch.hpp>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

extern "C" {
#include "core/reservation.h"
}

namespace {

struct Entry {
	u8 host;
	u64 key;
	u8 status;
};

const u8 self[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};

// In memory of exactly its length, so that a sanitizer sees who reads on
struct Report {
	std::unique_ptr<u8[]> bytes;
	u32 len;

	Report(u8 type, const std::vector<Entry> &entries, int told = -1, u32 length = 0)
		: len(length ? length : NOF_RESV_BYTES(u32(entries.size())))
	{
		u32 all = std::max<u32>(len, NOF_RESV_BYTES(u32(entries.size())));
		std::vector<u8> data(all);
		auto *r = reinterpret_cast<nvme_reservation_status_ext *>(data.data());
		u16 nr = told < 0 ? u16(entries.size()) : u16(told);
		r->gen = htole32(7);
		r->rtype = type;
		r->regctl[0] = nr & 0xff;
		r->regctl[1] = nr >> 8;
		for (std::size_t i = 0; i < entries.size(); i++) {
			memset(r->regctl_eds[i].hostid, entries[i].host, 16);
			r->regctl_eds[i].rkey = htole64(entries[i].key);
			r->regctl_eds[i].rcsts = entries[i].status;
		}
		bytes = std::make_unique<u8[]>(len);
		memcpy(bytes.get(), data.data(), len);
	}
	const nvme_reservation_status_ext *get() const
	{
		return reinterpret_cast<const nvme_reservation_status_ext *>(bytes.get());
	}
	std::string read(nof_resv *out) const
	{
		memset(out, 0xa5, sizeof(*out));
		const char *why = nof_resv_read(get(), len, self, out);
		return why ? why : "";
	}
};

} // namespace

TEST_CASE("reservations: what a report says for this host")
{
	nof_resv r;
	CHECK(Report(0, {}).read(&r).empty());
	CHECK(r.gen == 7);
	CHECK(r.nr == 0);
	CHECK_FALSE(r.registered);

	CHECK(Report(1, {{1, 0xa, 1}, {2, 0xb, 0}}).read(&r).empty());
	CHECK(r.registered);
	CHECK(r.key == 0xa);
	CHECK(r.holds);
	CHECK(r.holder == 0xa);
	CHECK(r.type == 1);

	CHECK(Report(4, {{1, 0xa, 0}, {2, 0xb, 1}}).read(&r).empty());
	CHECK_FALSE(r.holds);
	CHECK(r.holder == 0xb);

	// all registrants: as SCSI has it, no key
	CHECK(Report(5, {{1, 0xa, 1}, {2, 0xb, 1}}).read(&r).empty());
	CHECK(r.holds);
	CHECK(r.holder == 0);

	// one entry for each of its controllers
	CHECK(Report(1, {{1, 0xa, 1}, {1, 0xa, 1}}).read(&r).empty());
	CHECK(r.holder == 0xa);
}

TEST_CASE("reservations: reports that cannot be")
{
	nof_resv r;
	CHECK_FALSE(Report(7, {{1, 0xa, 1}}).read(&r).empty());
	CHECK_FALSE(Report(255, {}).read(&r).empty());
	CHECK_FALSE(Report(1, {}).read(&r).empty());
	CHECK_FALSE(Report(0, {}, 1024).read(&r).empty());
	CHECK_FALSE(Report(0, {}, 0xffff).read(&r).empty());
	CHECK_FALSE(Report(0, {{1, 0, 0}}).read(&r).empty());
	CHECK_FALSE(Report(0, {{1, 0xa, 1}}).read(&r).empty());
	CHECK_FALSE(Report(1, {{1, 0xa, 0}}).read(&r).empty());
	CHECK_FALSE(Report(1, {{1, 0xa, 1}, {2, 0xb, 1}}).read(&r).empty());
	CHECK_FALSE(Report(0, {{1, 0xa, 0}, {1, 0xb, 0}}).read(&r).empty());
	CHECK_FALSE(Report(5, {{1, 0xa, 1}, {1, 0xa, 0}}).read(&r).empty());
}

TEST_CASE("reservations: a report that was not read in full")
{
	nof_resv r;
	for (u32 len = NOF_RESV_ENTRY; len <= NOF_RESV_BYTES(3); len += 4) {
		CAPTURE(len);
		Report report(1, {{2, 0xb, 1}, {1, 0xa, 0}, {3, 0xc, 0}}, -1, len);
		CHECK(report.read(&r).empty());
		CHECK(r.nr == 3);
		CHECK(nof_resv_whole(&r, len) == (len == NOF_RESV_BYTES(3)));
		CHECK(r.registered == (len == NOF_RESV_BYTES(3)));
	}
}

TEST_CASE("reservations: keys, one of each host")
{
	Report report(0, {{1, 0xa, 0}, {2, 0xb, 0}, {1, 0xa, 0}, {3, 0xa, 0}});
	u64 keys[4] = {};
	CHECK(nof_resv_keys(report.get(), 4, keys, 4) == 3);
	CHECK(keys[0] == 0xa);
	CHECK(keys[1] == 0xb);
	CHECK(keys[2] == 0xa); // another host may have the same
	CHECK(keys[3] == 0);
	u64 few[2] = {};
	CHECK(nof_resv_keys(report.get(), 4, few, 1) == 3);
	CHECK(few[1] == 0);
	CHECK(nof_resv_keys(report.get(), 4, nullptr, 0) == 3);

	CHECK(nof_resv_has(report.get(), 4, self, 0xb));
	CHECK(nof_resv_has(report.get(), 4, self, 0xa)); // of the third host
	CHECK_FALSE(nof_resv_has(report.get(), 3, self, 0xa));
}

TEST_CASE("reservations: what may be executed twice, and what became of the rest")
{
	for (auto act : {NOF_RESV_REGISTER, NOF_RESV_ACQUIRE, NOF_RESV_RELEASE})
		CHECK(nof_resv_repeatable(act, false));
	for (auto act : {NOF_RESV_UNREGISTER, NOF_RESV_PREEMPT, NOF_RESV_CLEAR})
		CHECK_FALSE(nof_resv_repeatable(act, true));
	CHECK(nof_resv_repeatable(NOF_RESV_REPLACE, true));
	CHECK_FALSE(nof_resv_repeatable(NOF_RESV_REPLACE, false));

	nof_resv out = {}, in = {}, holds = {};
	in.registered = holds.registered = true;
	in.key = holds.key = 0xa;
	in.nr = holds.nr = 1;
	holds.holds = true;
	holds.type = 2;
	auto judge = [](nof_resv_act act, const nof_resv &now, bool victim = false, u64 key = 0xa, u8 type = 2) {
		return nof_resv_judge(act, &now, victim, key, type);
	};
	CHECK(judge(NOF_RESV_REPLACE, in, false, 0xa) == NOF_RESV_DONE);
	CHECK(judge(NOF_RESV_REPLACE, in, false, 0xb) == NOF_RESV_AGAIN);
	CHECK(judge(NOF_RESV_REPLACE, out) == NOF_RESV_UNTOLD);
	CHECK(judge(NOF_RESV_UNREGISTER, in) == NOF_RESV_AGAIN);
	CHECK(judge(NOF_RESV_UNREGISTER, out) == NOF_RESV_DONE);
	CHECK(judge(NOF_RESV_CLEAR, in) == NOF_RESV_AGAIN);
	CHECK(judge(NOF_RESV_CLEAR, out) == NOF_RESV_DONE);
	out.nr = 1; // another has come since, or has preempted us
	CHECK(judge(NOF_RESV_CLEAR, out) == NOF_RESV_UNTOLD);
	CHECK(judge(NOF_RESV_PREEMPT, holds, true) == NOF_RESV_AGAIN);
	CHECK(judge(NOF_RESV_PREEMPT, holds) == NOF_RESV_DONE);
	CHECK(judge(NOF_RESV_PREEMPT, holds, false, 0xb, 1) == NOF_RESV_UNTOLD);
	CHECK(judge(NOF_RESV_PREEMPT, in) == NOF_RESV_UNTOLD);
	CHECK(judge(NOF_RESV_PREEMPT, out) == NOF_RESV_UNTOLD);
}
