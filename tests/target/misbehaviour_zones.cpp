// SPDX-License-Identifier: LGPL-2.1-or-later
// Misbehaviour about zones, on zoned namespaces only
#include "acts.h"
#include "connection.h"
#include "zones.h"

namespace target {
namespace {

using namespace acts;

// Offsets in Identify Namespace of the ZNS command set
constexpr std::size_t zoc = 0, mar = 4, mor = 8, zsze = 2816;
// Offsets in a zone descriptor of a report
constexpr std::size_t stateAt = 1, capacityAt = 8, startAt = 16, pointerAt = 24;

bool zoned(Strike &s, std::uint8_t cns)
{
	return s.identify(cns) && s.cmd->cdw11 >> 24 == csi_zns;
}

template <class T> bool identify(Strike &s, std::size_t field, T value)
{
	return poke<T>(zoned(s, cns_cs_ns), s, field, value);
}

std::size_t zoneAt(std::size_t zone, std::size_t field)
{
	return 64 + zone * 64 + field;
}

bool hasZones(const Strike &s, std::size_t zones)
{
	return s.data->size() >= zoneAt(zones, 0);
}

template <class T> bool zone(Strike &s, std::size_t n, std::size_t field, T value)
{
	return poke<T>(hasZones(s, n + 1), s, zoneAt(n, field), value);
}

bool setZoneCount(Strike &s, std::uint64_t zones)
{
	return poke<std::uint64_t>(true, s, 0, zones);
}

bool open(Strike &s, std::uint64_t wp)
{
	return zone<std::uint8_t>(s, 0, stateAt, zone_implicit << 4) && zone<std::uint64_t>(s, 0, pointerAt, wp);
}

std::uint64_t first(const Strike &s)
{
	return get<std::uint64_t>(*s.data, zoneAt(0, startAt));
}

// clang-format off
const Misbehaviour zoneTable[] = {
	{"zone-csi-unknown", 21, Hook::adminData, connecting, Expect::nsRefused, nothing,
		[](S &s) { return poke<std::uint8_t>(s.identify(cns_descs), s, csi_at, 7); }},
	{"zone-identify-failed", 21, Hook::command, connecting, Expect::nsRefused, nothing,
		[](S &s) { return failed(zoned(s, cns_cs_ns), s, st_internal | st_dnr); }},
	{"zone-identify-not-now", 21, Hook::command, connecting, Expect::scanFailed, nothing,
		[](S &s) { return failed(zoned(s, cns_cs_ns), s, st_ns_not_ready); }},
	{"zone-characteristics", 42, Hook::adminData, connecting, Expect::nsRefused, nothing,
		[](S &s) { return identify<std::uint16_t>(s, zoc, 1); }},
	{"zone-size-odd", 42, Hook::adminData, connecting, Expect::nsRefused, nothing,
		[](S &s) { return identify<std::uint64_t>(s, zsze, 2047); }},
	{"zone-size-zero", 42, Hook::adminData, connecting, Expect::nsRefused, nothing,
		[](S &s) { return identify<std::uint64_t>(s, zsze, 0); }},
	{"zone-size-huge", 42, Hook::adminData, connecting, Expect::nsRefused, nothing,
		[](S &s) { return identify<std::uint64_t>(s, zsze, 1ull << 63); }},
	{"zone-size-beyond", 42, Hook::adminData, connecting, Expect::nsRefused, nothing,
		[](S &s) { return identify<std::uint64_t>(s, zsze, 1ull << 20); }},
	{"zone-size-one", 42, Hook::adminData, connecting, Expect::nsRefused, nothing,
		[](S &s) { return identify<std::uint64_t>(s, zsze, 1); }},
	{"zone-count-huge", 42, Hook::adminData, connecting, Expect::nsRefused, nothing,
		[](S &s) { return poke(s.identify(cns_ns), s, at::nsze, 1ull << 50); }},
	{"zone-open-over-active", 42, Hook::adminData, connecting, Expect::nsRefused, nothing,
		[](S &s) { return identify<std::uint32_t>(s, mar, 0) && identify<std::uint32_t>(s, mor, 5); }},
	{"zone-open-no-limit", 42, Hook::adminData, connecting, Expect::nsRefused, nothing,
		[](S &s) { return identify<std::uint32_t>(s, mar, 3) && identify<std::uint32_t>(s, mor, ~0u); }},
	{"zone-limits-huge", 42, Hook::adminData, connecting, Expect::harmless, nothing,
		[](S &s) { return identify<std::uint32_t>(s, mar, ~1u) && identify<std::uint32_t>(s, mor, ~1u); }},
	{"zone-append-huge", 42, Hook::adminData, connecting, Expect::harmless, nothing,
		[](S &s) { return poke<std::uint8_t>(zoned(s, cns_cs_ctrl), s, 0, 255); }},
	{"zone-append-untold", 42, Hook::command, connecting, Expect::harmless, nothing,
		[](S &s) { return failed(zoned(s, cns_cs_ctrl), s, st_invalid_field | st_dnr); }},
	{"zone-report-failed", 42, Hook::command, connecting, Expect::scanFailed, nothing,
		[](S &s) { return failed(s.io() && s.is(op_zone_receive), s, st_internal | st_dnr); }},
	{"zone-report-endless", 42, Hook::zones, connecting, Expect::nsRefused, nothing,
		[](S &s) { return setZoneCount(s, ~0ull); }},
	{"zone-report-more", 42, Hook::zones, connecting, Expect::nsRefused, nothing,
		[](S &s) { return setZoneCount(s, (s.data->size() - 64) / 64 + 1); }},
	{"zone-report-none", 42, Hook::zones, connecting, Expect::nsRefused, nothing,
		[](S &s) { return setZoneCount(s, 0); }},
	{"zone-report-zeroes", 42, Hook::zones, connecting, Expect::nsRefused, nothing,
		[](S &s) { std::fill(s.data->begin() + 64, s.data->end(), 0); return true; }},
	{"zone-report-order", 42, Hook::zones, connecting, Expect::nsRefused, nothing,
		[](S &s) { return when(hasZones(s, 2), [&] {
			std::swap_ranges(s.data->begin() + 64, s.data->begin() + 128, s.data->begin() + 128); }); }},
	{"zone-report-twice", 42, Hook::zones, connecting, Expect::nsRefused, nothing,
		[](S &s) { return when(hasZones(s, 2), [&] {
			std::copy_n(s.data->begin() + 64, 64, s.data->begin() + 128); }); }},
	{"zone-report-gap", 42, Hook::zones, connecting, Expect::nsRefused, nothing,
		[](S &s) { return hasZones(s, 2) && zone<std::uint64_t>(s, 1, startAt, first(s) + 4096); }},
	{"zone-start-wrong", 42, Hook::zones, connecting, Expect::nsRefused, nothing,
		[](S &s) { return zone<std::uint64_t>(s, 0, startAt, first(s) + 1); }},
	{"zone-start-huge", 42, Hook::zones, connecting, Expect::nsRefused, nothing,
		[](S &s) { return zone<std::uint64_t>(s, 0, startAt, ~0ull); }},
	{"zone-capacity-over", 42, Hook::zones, connecting, Expect::nsRefused, nothing,
		[](S &s) { return zone<std::uint64_t>(s, 0, capacityAt, 2049); }},
	{"zone-capacity-huge", 42, Hook::zones, connecting, Expect::nsRefused, nothing,
		[](S &s) { return zone<std::uint64_t>(s, 0, capacityAt, ~0ull); }},
	{"zone-capacity-zero", 42, Hook::zones, connecting, Expect::nsRefused, nothing,
		[](S &s) { return zone<std::uint64_t>(s, 0, capacityAt, 0); }},
	{"zone-type-unknown", 42, Hook::zones, connecting, Expect::nsRefused, nothing,
		[](S &s) { return zone<std::uint8_t>(s, 0, 0, 5); }},
	{"zone-state-unknown", 42, Hook::zones, connecting, Expect::nsRefused, nothing,
		[](S &s) { return zone<std::uint8_t>(s, 0, stateAt, 0x70); }},
	{"zone-pointer-before", 42, Hook::zones, connecting, Expect::nsRefused, nothing,
		[](S &s) { return open(s, first(s) - 1); }},
	{"zone-pointer-beyond", 42, Hook::zones, connecting, Expect::nsRefused, nothing,
		[](S &s) { return open(s, first(s) + 2048); }},
};
// clang-format on

} // namespace

std::span<const Misbehaviour> zoneMisbehaviours()
{
	return zoneTable;
}

} // namespace target
