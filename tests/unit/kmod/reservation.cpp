// SPDX-License-Identifier: LGPL-2.1-or-later
#include <catch2/catch.hpp>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

extern "C" {
#include "wire/reservation.h"
}

namespace {

struct Entry {
	u8 host;
	u64 key;
	u8 status;
};

const u8 self[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};

// A report in an allocation of its exact length, so that a sanitizer detects a read past the end
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
		const char *why = nof_resv_decode(get(), len, self, out);
		return why ? why : "";
	}
};

} // namespace

TEST_CASE("reservations: a report is decoded for this host")
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

	// All Registrants types have no single holder: key 0, as in SCSI
	CHECK(Report(5, {{1, 0xa, 1}, {2, 0xb, 1}}).read(&r).empty());
	CHECK(r.holds);
	CHECK(r.holder == 0);

	// one entry for each controller of this host
	CHECK(Report(1, {{1, 0xa, 1}, {1, 0xa, 1}}).read(&r).empty());
	CHECK(r.holder == 0xa);
}

TEST_CASE("reservations: inconsistent reports are refused")
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

TEST_CASE("reservations: a partially read report is recognized")
{
	nof_resv r;
	for (u32 len = NOF_RESV_ENTRY; len <= NOF_RESV_BYTES(3); len += 4) {
		CAPTURE(len);
		Report report(1, {{2, 0xb, 1}, {1, 0xa, 0}, {3, 0xc, 0}}, -1, len);
		CHECK(report.read(&r).empty());
		CHECK(r.nr == 3);
		CHECK(nof_resv_is_complete(&r, len) == (len == NOF_RESV_BYTES(3)));
		CHECK(r.registered == (len == NOF_RESV_BYTES(3)));
	}
}

TEST_CASE("reservations: keys are listed once for each host")
{
	Report report(0, {{1, 0xa, 0}, {2, 0xb, 0}, {1, 0xa, 0}, {3, 0xa, 0}});
	u64 keys[4] = {};
	CHECK(nof_resv_keys(report.get(), 4, keys, 4) == 3);
	CHECK(keys[0] == 0xa);
	CHECK(keys[1] == 0xb);
	CHECK(keys[2] == 0xa); // another host may use the same key
	CHECK(keys[3] == 0);
	u64 few[2] = {};
	CHECK(nof_resv_keys(report.get(), 4, few, 1) == 3);
	CHECK(few[1] == 0);
	CHECK(nof_resv_keys(report.get(), 4, nullptr, 0) == 3);

	CHECK(nof_resv_has_registrant(report.get(), 4, self, 0xb));
	CHECK(nof_resv_has_registrant(report.get(), 4, self, 0xa)); // of the third host
	CHECK_FALSE(nof_resv_has_registrant(report.get(), 3, self, 0xa));
	CHECK(nof_resv_has_registrant(report.get(), 2, self, 0)); // any other host
	CHECK_FALSE(nof_resv_has_registrant(report.get(), 1, self, 0));
}

namespace {

// A report in which this host is registered with @key, among @nr registrants
nof_resv report(u32 gen, u64 key, u16 nr = 1)
{
	nof_resv r = {};
	r.gen = gen;
	r.nr = nr;
	r.registered = key != 0;
	r.key = key;
	return r;
}

nof_resv held(nof_resv r, u8 type, u64 holder)
{
	r.type = type;
	r.holder = type < NOF_RESV_TYPE_ALL ? holder : 0;
	r.holds = r.registered && (type >= NOF_RESV_TYPE_ALL || holder == r.key);
	return r;
}

// The new key, or the key to preempt, is 0xb.
nof_resv_verdict judge(nof_resv_act act, const nof_resv &before, const nof_resv &now, bool victim = false,
		       u64 key = 0xb, u8 type = 2)
{
	return nof_resv_judge(act, &before, &now, victim, key, type);
}

nof_resv_verdict unknown(nof_resv_act act, const nof_resv &now, bool victim = false, u64 key = 0xb, u8 type = 2)
{
	return nof_resv_judge(act, nullptr, &now, victim, key, type);
}

constexpr nof_resv_act all[] = {NOF_RESV_REGISTER, NOF_RESV_REPLACE, NOF_RESV_UNREGISTER, NOF_RESV_ACQUIRE,
				NOF_RESV_PREEMPT,  NOF_RESV_RELEASE, NOF_RESV_CLEAR};

} // namespace

TEST_CASE("reservations: an unchanged report means that the command can be sent again")
{
	for (auto act : all)
		for (auto &r : {report(1, 0, 0), report(1, 0xa), held(report(1, 0xa), 2, 0xa)}) {
			CAPTURE(int(act));
			CHECK(judge(act, r, r) == NOF_RESV_AGAIN);
		}
	// with an All Registrants type another host may have acquired the reservation again, which no report shows
	auto shared = held(report(1, 0xa, 2), 5, 0);
	CHECK(judge(NOF_RESV_RELEASE, shared, shared) == NOF_RESV_UNKNOWN);
	CHECK(judge(NOF_RESV_CLEAR, shared, shared) == NOF_RESV_AGAIN);
}

TEST_CASE("reservations: a lost registration is not repeated if the state changed since")
{
	auto none = report(1, 0, 0), out = report(2, 0, 1), in = report(2, 0xb), other = report(3, 0xc);
	auto was = report(1, 0xa), is = report(3, 0xa, 2); // other hosts registered, this host is unchanged
	for (auto act : {NOF_RESV_REGISTER, NOF_RESV_REPLACE}) {
		CHECK(judge(act, none, in) == NOF_RESV_DONE);
		CHECK(judge(act, none, out) == NOF_RESV_UNKNOWN); // possibly preempted since
		CHECK(judge(act, was, other) == NOF_RESV_UNKNOWN);
		CHECK(judge(act, was, is) == NOF_RESV_AGAIN);
		CHECK(unknown(act, in) == NOF_RESV_DONE);
		CHECK(unknown(act, out) == NOF_RESV_UNKNOWN);
		CHECK(unknown(act, other) == NOF_RESV_UNKNOWN);
	}
	CHECK(judge(NOF_RESV_UNREGISTER, was, out) == NOF_RESV_DONE);
	CHECK(judge(NOF_RESV_UNREGISTER, was, other) == NOF_RESV_UNKNOWN); // a newer registration
	CHECK(judge(NOF_RESV_UNREGISTER, was, is) == NOF_RESV_AGAIN);
	CHECK(unknown(NOF_RESV_UNREGISTER, out) == NOF_RESV_DONE);
	CHECK(unknown(NOF_RESV_UNREGISTER, in) == NOF_RESV_UNKNOWN);
	CHECK(judge(NOF_RESV_CLEAR, was, report(2, 0, 0)) == NOF_RESV_DONE);
	CHECK(judge(NOF_RESV_CLEAR, was, out) == NOF_RESV_UNKNOWN);
	CHECK(judge(NOF_RESV_CLEAR, was, other) == NOF_RESV_UNKNOWN);
	CHECK(judge(NOF_RESV_CLEAR, was, is) == NOF_RESV_AGAIN);
}

TEST_CASE("reservations: a lost acquire or release is judged after changes by other hosts")
{
	auto before = report(1, 0xa, 2), now = report(2, 0xa, 3);
	CHECK(judge(NOF_RESV_ACQUIRE, before, held(now, 2, 0xa)) == NOF_RESV_DONE);
	CHECK(judge(NOF_RESV_ACQUIRE, before, held(now, 2, 0xb)) == NOF_RESV_AGAIN); // a conflict
	CHECK(judge(NOF_RESV_ACQUIRE, before, held(now, 1, 0xa)) == NOF_RESV_AGAIN); // a conflict, too
	CHECK(judge(NOF_RESV_ACQUIRE, before, now) == NOF_RESV_AGAIN);
	CHECK(judge(NOF_RESV_ACQUIRE, before, report(2, 0, 1)) == NOF_RESV_UNKNOWN); // preempted since
	CHECK(unknown(NOF_RESV_ACQUIRE, held(now, 2, 0xa)) == NOF_RESV_DONE);
	CHECK(unknown(NOF_RESV_ACQUIRE, now) == NOF_RESV_UNKNOWN);

	auto holder = held(before, 2, 0xa);
	CHECK(judge(NOF_RESV_RELEASE, holder, now) == NOF_RESV_DONE);
	CHECK(judge(NOF_RESV_RELEASE, holder, report(2, 0, 1)) == NOF_RESV_DONE);
	CHECK(judge(NOF_RESV_RELEASE, holder, held(now, 2, 0xb)) == NOF_RESV_DONE);
	CHECK(judge(NOF_RESV_RELEASE, holder, held(now, 2, 0xa)) == NOF_RESV_AGAIN);
	CHECK(judge(NOF_RESV_RELEASE, before, held(now, 2, 0xa)) == NOF_RESV_UNKNOWN);
	CHECK(judge(NOF_RESV_RELEASE, holder, held(now, 1, 0xa)) == NOF_RESV_UNKNOWN); // a newer reservation
	CHECK(unknown(NOF_RESV_RELEASE, held(now, 2, 0xa)) == NOF_RESV_UNKNOWN);
	CHECK(unknown(NOF_RESV_RELEASE, now) == NOF_RESV_DONE);
}

TEST_CASE("reservations: a lost preempt is judged by the reservation and the victim")
{
	auto before = held(report(1, 0xa, 3), 2, 0xb), now = report(2, 0xa, 2);
	CHECK(judge(NOF_RESV_PREEMPT, before, held(now, 2, 0xa)) == NOF_RESV_DONE);
	CHECK(judge(NOF_RESV_PREEMPT, before, held(now, 1, 0xa)) == NOF_RESV_UNKNOWN);
	CHECK(judge(NOF_RESV_PREEMPT, before, held(now, 2, 0xc)) == NOF_RESV_UNKNOWN); // another host preempted first
	CHECK(judge(NOF_RESV_PREEMPT, before, now) == NOF_RESV_UNKNOWN);
	CHECK(judge(NOF_RESV_PREEMPT, before, held(report(2, 0, 1), 2, 0xc)) == NOF_RESV_UNKNOWN);
	CHECK(judge(NOF_RESV_PREEMPT, before, held(now, 2, 0xa), true) == NOF_RESV_UNKNOWN); // the victim is back
	CHECK(unknown(NOF_RESV_PREEMPT, held(now, 2, 0xa)) == NOF_RESV_DONE);
	CHECK(unknown(NOF_RESV_PREEMPT, now) == NOF_RESV_UNKNOWN);

	// preempting a registrant that is not the holder leaves the reservation unchanged
	auto third = held(report(1, 0xa, 3), 2, 0xc);
	CHECK(judge(NOF_RESV_PREEMPT, third, held(now, 2, 0xc)) == NOF_RESV_DONE);
	CHECK(judge(NOF_RESV_PREEMPT, third, held(now, 2, 0xd)) == NOF_RESV_UNKNOWN);
	CHECK(judge(NOF_RESV_PREEMPT, report(1, 0xa, 3), now) == NOF_RESV_DONE);

	// All Registrants: key 0 stands for all other registrants; nothing less counts as done
	auto shared = held(report(1, 0xa, 3), 5, 0);
	CHECK(judge(NOF_RESV_PREEMPT, shared, held(report(2, 0xa), 2, 0xa), false, 0) == NOF_RESV_DONE);
	CHECK(judge(NOF_RESV_PREEMPT, shared, held(now, 2, 0xa), true, 0) == NOF_RESV_UNKNOWN);
	CHECK(judge(NOF_RESV_PREEMPT, shared, held(report(2, 0xa, 4), 5, 0), true, 0, 5) == NOF_RESV_UNKNOWN);
	CHECK(judge(NOF_RESV_PREEMPT, shared, held(now, 5, 0), false, 0xb) == NOF_RESV_DONE); // one of the registrants
}
