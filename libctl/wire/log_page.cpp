// SPDX-License-Identifier: LGPL-2.1-or-later
#include "log_page.h"

namespace nofctl::wire {

namespace {

struct AnaHeader {
	Le64 change;
	Le16 groups;
	std::uint8_t reserved[6];
};
static_assert(sizeof(AnaHeader) == 16);

struct AnaDescriptor {
	Le32 id;
	Le32 nsids;
	Le64 change;
	std::uint8_t state;
	std::uint8_t reserved[15];
};
static_assert(sizeof(AnaDescriptor) == 32);

struct CcrHeader {
	Le16 entries;
	std::uint8_t reserved[6];
};
static_assert(sizeof(CcrHeader) == 8);

struct CcrDescriptor {
	Le16 icid;
	std::uint8_t ciu;
	std::uint8_t reserved;
	Le16 acid;
	std::uint8_t status;
	std::uint8_t flags;
};
static_assert(sizeof(CcrDescriptor) == 8);

} // namespace

Bytes makeAnaLog(std::uint64_t change, std::uint16_t toldGroups, const std::vector<AnaGroup> &groups)
{
	Bytes log = encode(AnaHeader{change, toldGroups, {}});
	for (const AnaGroup &g : groups) {
		append(log, bytesOf(AnaDescriptor{g.id, g.toldNsids, change, g.state, {}}));
		for (std::uint32_t nsid : g.nsids)
			append(log, bytesOf(Le32(nsid)));
	}
	return log;
}

Bytes makeCcrLog(std::span<const CcrRecord> entries)
{
	Bytes log = encode(CcrHeader{static_cast<std::uint16_t>(entries.size()), {}});
	for (const CcrRecord &e : entries)
		append(log, bytesOf(CcrDescriptor{e.icid, e.ciu, 0, e.acid, e.status, e.flags}));
	return log;
}

Bytes smartLog(std::uint16_t kelvin, std::uint8_t sparePercent)
{
	Bytes log(512);
	put<std::uint16_t>(log, 1, kelvin);
	log[3] = sparePercent;
	return log;
}

} // namespace nofctl::wire
