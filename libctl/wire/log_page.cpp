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

constexpr std::uint8_t anaState = 0xf; // bits of the ANA State field

bool knownState(std::uint8_t state)
{
	return (state >= ana_optimized && state <= ana_persistent_loss) || state == ana_change;
}

// Decodes the group at the start of @rest and removes it from @rest
std::optional<AnaGroup> takeGroup(std::span<const std::uint8_t> &rest)
{
	const auto descriptor = decode<AnaDescriptor>(rest);
	if (!descriptor || !descriptor->id)
		return {};
	rest = rest.subspan(sizeof(*descriptor));
	AnaGroup group{descriptor->id, std::uint8_t(descriptor->state & anaState), {}, descriptor->nsids};
	if (!knownState(group.state) || group.toldNsids > rest.size() / sizeof(Le32))
		return {};
	group.nsids.reserve(group.toldNsids);
	for (std::uint32_t i = 0; i < group.toldNsids; i++)
		group.nsids.push_back(get<std::uint32_t>(rest, i * sizeof(Le32)));
	rest = rest.subspan(group.toldNsids * sizeof(Le32));
	return group;
}

} // namespace

std::optional<AnaLog> parseAnaLog(std::span<const std::uint8_t> bytes)
{
	const auto header = decode<AnaHeader>(bytes);
	if (!header)
		return {};
	bytes = bytes.subspan(sizeof(*header));
	AnaLog log{header->change, {}};
	for (int left = header->groups; left > 0; left--) {
		auto group = takeGroup(bytes);
		if (!group)
			return {};
		log.groups.push_back(*std::move(group));
	}
	return log;
}

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
