// SPDX-License-Identifier: LGPL-2.1-or-later
// Input: the highest ANA group, the command set, then the beginning of I/O Command Set Independent Identify Namespace;
// the rest of it is zero.
#include "input.h"

#include <optional>

extern "C" {
#include "wire/identify.h"
#include "wire/reservation.h"
}

namespace {

struct Known {
	u32 anagrpmax;
	nof_ns_ids ids;
};

struct Decoded {
	nof_ns_format format;
	bool ready;
};

// Decodes into memory that is filled with @filler.
std::optional<Decoded> decode(const nvme_id_ns_cs_indep &page, const Known &known, u8 filler)
{
	Decoded out;
	std::memset(&out.format, filler, sizeof(out.format));
	out.format.ids = known.ids;
	out.ready = filler & 1;
	const Decoded before = out;
	const char *why = nof_identify_indep(&page, known.anagrpmax, &out.format, &out.ready);
	if (!why)
		return out;
	expect(*why, "a refusal has a reason");
	expect(!std::memcmp(&out.format, &before.format, sizeof(out.format)) && out.ready == before.ready,
	       "a refusal changes nothing");
	return std::nullopt;
}

// Fields that only a namespace with blocks has
void checkNoBlocks(const nof_ns_format &ns)
{
	expect(!ns.nlbas && !ns.nuse && !ns.zone_blocks, "a namespace without blocks has no capacity, and no zones");
	expect(ns.lba_shift == NOF_MIN_LBA_SHIFT, "the block size is one that the block layer takes");
	expect(!ns.pi_type && !ns.pi_bytes && !ns.pi_in_data, "without blocks there is no protection information");
	expect(!ns.phys_blocks && !ns.opt_io_blocks && !ns.discard_granularity && !ns.atomic_blocks,
	       "without blocks there is no information about them");
}

void checkAccepted(const nvme_id_ns_cs_indep &page, const Known &known, const nof_ns_format &ns)
{
	expect(nof_ns_ids_equal(&ns.ids, &known.ids), "the identifiers stay what they were");
	expect(nof_format_is_generic(&ns) == nof_ids_are_generic(&known.ids), "the command set stays what it was");
	expect(!known.anagrpmax || (ns.ana_group >= 1 && ns.ana_group <= known.anagrpmax), "the ANA group is one");
	expect(!(page.fpi & 0x80) || (page.fpi & 0x7f) <= 100, "no more than all of it remains to be formatted");
	expect(!(ns.rescap & ~(NOF_RESCAP_PERSISTS | NOF_RESCAP_TYPES)), "reservations are of types that there are");
	checkNoBlocks(ns);
}

} // namespace

void fuzz(Input in)
{
	Known known{};
	known.anagrpmax = in.take<u32>();
	known.ids.csi = in.take<u8>();
	known.ids.have = NOF_ID_NGUID;
	std::memset(known.ids.nguid, 0x22, sizeof(known.ids.nguid));
	auto page = in.take<nvme_id_ns_cs_indep>();
	const std::optional<Decoded> one = decode(page, known, 0xa5), again = decode(page, known, 0x5a);
	expect(one.has_value() == again.has_value(), "the verdict depends on the page alone");
	if (!one)
		return;
	checkAccepted(page, known, one->format);
	expect(!std::memcmp(&one->format, &again->format, sizeof(one->format)) && one->ready == again->ready,
	       "the answer depends on the page alone");
	std::memset(page.rsvd15, 0xff, sizeof(page.rsvd15));
	const std::optional<Decoded> later = decode(page, known, 0xa5);
	expect(later && !std::memcmp(&one->format, &later->format, sizeof(one->format)),
	       "a later specification's fields do not matter");
}
