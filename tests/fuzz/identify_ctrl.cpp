// SPDX-License-Identifier: LGPL-2.1-or-later
// Input: CAP.MPSMIN, then the parts of Identify Controller that have fields; the rest is zero.
#include "input.h"

extern "C" {
#include "wire/identify.h"
}

namespace {

struct Part {
	std::size_t offset, length;
};

constexpr Part parts[] = {{0, 160}, {256, 132}, {512, 32}, {1792, 16}};

nvme_id_ctrl pageOf(Input &in)
{
	std::vector<std::uint8_t> page(sizeof(nvme_id_ctrl));
	for (const Part &part : parts)
		std::ranges::copy(in.cut(part.length), page.begin() + static_cast<std::ptrdiff_t>(part.offset));
	nvme_id_ctrl id;
	std::memcpy(&id, page.data(), sizeof(id));
	return id;
}

template <std::size_t N> void checkText(const char (&text)[N])
{
	const std::size_t length = strnlen(text, N);
	expect(length < N, "text ends");
	expect(!length || text[length - 1] != ' ', "text has no blanks at its end");
	expect(std::all_of(text, text + length, [](char c) { return c >= ' ' && c <= '~'; }), "text can be printed");
}

void checkCapsules(const nof_ctrl_id &id)
{
	expect(id.ioccsz >= 64 && id.ioccsz <= 16 << 20, "a command capsule holds a command, and is of this world");
	if (id.cntrltype >= 2)
		return;
	expect(!id.icdoff || 64 + id.icdoff <= id.ioccsz, "data in a capsule lie within it");
	expect(id.nn && id.mnan && id.mnan <= id.nn, "there can be namespaces");
	expect(id.sgls & 3, "SGLs are supported");
}

void checkLimits(const nof_ctrl_id &id, u8 mpsmin)
{
	const u32 max = id.max_transfer;
	expect(max == 0xffffffff || (max >= 4096u << mpsmin && !(max & (max - 1))),
	       "the longest transfer is a number of pages");
	expect(id.cntlid <= 0xffef, "the controller's identifier is none that is reserved");
	expect(id.cntrltype <= 3, "the controller is of a known kind");
	if (id.cmic & 8)
		expect(id.nanagrpid && id.nanagrpid <= id.anagrpmax, "there can be as many ANA groups as there are");
	else
		expect(!id.nanagrpid && !id.anagrpmax && !id.anatt && !id.anacap, "no ANA, nothing of ANA");
}

} // namespace

void fuzz(Input in)
{
	const u8 mpsmin = in.take<u8>();
	const nvme_id_ctrl page = pageOf(in);
	nof_ctrl_id id, again;
	std::memset(&id, 0xa5, sizeof(id));
	std::memset(&again, 0x5a, sizeof(again));
	if (const char *why = nof_identify_ctrl(&page, mpsmin, &id)) {
		expect(*why, "a refusal has a reason");
		return;
	}
	expect(mpsmin < 16, "CAP.MPSMIN has four bits");
	checkCapsules(id);
	checkText(id.serial);
	checkText(id.model);
	checkText(id.firmware);
	checkLimits(id, mpsmin);
	expect(!nof_identify_ctrl(&page, mpsmin, &again) && !std::memcmp(&id, &again, sizeof(id)),
	       "the answer depends on the page alone");
}
