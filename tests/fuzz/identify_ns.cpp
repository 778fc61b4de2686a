// SPDX-License-Identifier: LGPL-2.1-or-later
// Input: the beginning of Identify Namespace; the rest of it is zero.
#include "input.h"

extern "C" {
#include <linux/limits.h>

#include "wire/identify.h"
}

namespace {

void checkCapacity(const nof_ns_format &ns)
{
	expect(ns.lba_shift >= NOF_MIN_LBA_SHIFT && ns.lba_shift <= NOF_MAX_LBA_SHIFT, "blocks of 512 to 4096 bytes");
	expect(ns.nlbas > 0, "there is something to read");
	expect(ns.nlbas <= u64(S64_MAX) >> ns.lba_shift, "the size in bytes is a loff_t");
	expect(ns.pi_type <= 3, "metadata is protection information, of a type that there is, or there is none");
	expect(bool(ns.pi_type) == bool(ns.pi_bytes), "protection information has a type and a size");
	expect(!ns.pi_bytes || ns.pi_bytes == NOF_PI_BYTES_16B || ns.pi_bytes == NOF_PI_BYTES_64B, "of either guard");
	expect(ns.pi_bytes || !ns.pi_in_data, "protection information in the data has a size");
}

void checkHints(const nof_ns_format &ns)
{
	expect(!(ns.phys_blocks & (ns.phys_blocks - 1)), "a physical block is a power of two");
	expect(u64{ns.phys_blocks} << ns.lba_shift <= 64 << 10, "and no longer than anybody makes use of");
	expect(!ns.phys_blocks || ns.opt_io_blocks % ns.phys_blocks == 0, "the optimal size is whole physical blocks");
	expect(ns.opt_io_blocks <= 1 << 16 && ns.discard_granularity <= 1 << 16, "no hint is more than its field");
}

bool any(Bytes bytes)
{
	return std::any_of(bytes.begin(), bytes.end(), [](std::uint8_t b) { return b != 0; });
}

void checkIds(const nof_ns_ids &ids)
{
	expect(any(ids.eui64) == bool(ids.have & NOF_ID_EUI64), "an EUI-64 that is zero is none");
	expect(any(ids.nguid) == bool(ids.have & NOF_ID_NGUID), "an NGUID that is zero is none");
	expect(!(ids.have & ~(NOF_ID_EUI64 | NOF_ID_NGUID)), "this page has no other identifiers");
}

} // namespace

void fuzz(Input in)
{
	const auto page = in.take<nvme_id_ns>();
	nof_ns_format ns, again;
	std::memset(&ns, 0xa5, sizeof(ns));
	std::memset(&again, 0x5a, sizeof(again));
	if (const char *why = nof_identify_ns(&page, &ns)) {
		expect(*why, "a refusal has a reason");
		return;
	}
	expect(page.nlbaf < std::size(page.lbaf), "no more formats than the page has room for");
	checkCapacity(ns);
	checkHints(ns);
	checkIds(ns.ids);
	expect(!nof_identify_ns(&page, &again) && !std::memcmp(&ns, &again, sizeof(ns)),
	       "the answer depends on the page alone");
}
