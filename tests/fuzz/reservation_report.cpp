// SPDX-License-Identifier: LGPL-2.1-or-later
// Input: a host identifier, a reservation key, and a reservation report for this host.
#include "input.h"

extern "C" {
#include "wire/reservation.h"
}

namespace {

void checkKeys(const nvme_reservation_status_ext *report, const nof_resv &resv)
{
	std::vector<u64> keys(resv.nr + 1, 0);
	const u32 found = nof_resv_keys(report, resv.nr, keys.data(), resv.nr);
	expect(found <= resv.nr, "no more keys than registrants");
	expect(std::all_of(keys.begin(), keys.begin() + found, [](u64 key) { return key != 0; }), "no key is zero");
	expect(nof_resv_keys(report, resv.nr, nullptr, 0) == found, "how many there are does not depend on the room");
	if (resv.registered)
		expect(std::find(keys.begin(), keys.begin() + found, resv.key) != keys.begin() + found,
		       "one's own key is among them");
}

void checkRead(const nof_resv &resv)
{
	expect(resv.type <= NOF_RESV_TYPE_MAX, "a type that there is");
	expect(!resv.holds || resv.registered, "the holder is registered");
	expect(!resv.registered || resv.key, "with a key");
}

} // namespace

void fuzz(Input in)
{
	u8 hostid[16];
	for (u8 &byte : hostid)
		byte = in.take<u8>();
	const u64 key = in.take<u64>();
	const Bytes bytes = in.rest();
	if (bytes.size() < NOF_RESV_BYTES(0))
		return;
	const auto copy = exact(bytes);
	const auto *report = reinterpret_cast<const nvme_reservation_status_ext *>(copy.get());
	nof_resv resv;
	std::memset(&resv, 0xa5, sizeof(resv));
	if (const char *why = nof_resv_decode(report, bytes.size(), hostid, &resv)) {
		expect(*why, "a refusal has a reason");
		return;
	}
	checkRead(resv);
	if (!nof_resv_is_complete(&resv, bytes.size())) {
		expect(!resv.registered && !resv.holder, "of a report that is not whole, nothing but its head is read");
		return;
	}
	expect(NOF_RESV_BYTES(u32{resv.nr}) <= bytes.size(), "all registrants lie within it");
	checkKeys(report, resv);
	nof_resv_has_registrant(report, resv.nr, hostid, key);
}
