// SPDX-License-Identifier: LGPL-2.1-or-later
// Misbehaviour about formats (protection information, atomic writes), on a namespace that has neither.
#include "acts.h"
#include "connection.h"

namespace target {
namespace {

using namespace acts;
constexpr std::uint8_t extended = 1 << 4;

bool format(S &s, std::uint16_t bytes, std::uint8_t protection, std::uint8_t flbas = 0)
{
	return poke(s.identify(cns_ns), s, at::lbaf0_ms, bytes) && poke(true, s, at::dps, protection) &&
	       poke(true, s, at::flbas, flbas);
}

// 16 bytes of metadata, with this ELBAF in Identify Namespace of the NVM command set
bool guard(S &s, std::uint32_t elbaf)
{
	return poke<std::uint32_t>(s.identify(cns_ctrl), s, at::ctratt, 1u | 1u << 15) || format(s, 16, 1, extended) ||
	       poke(s.identify(cns_cs_ns), s, at::elbaf0, elbaf);
}

bool atomic(S &s, std::uint16_t blocks, std::uint16_t boundary, std::uint16_t offset = 0)
{
	return poke<std::uint8_t>(s.identify(cns_ns), s, at::nsfeat, 2) && poke(true, s, at::nawupf, blocks) &&
	       poke(true, s, at::nabspf, boundary) && poke(true, s, at::nabo, offset);
}

// clang-format off
const Misbehaviour formatTable[] = {
	{"format-metadata-separate", 21, Hook::adminData, connecting, Expect::nsRefused, nothing,
		[](S &s) { return format(s, 8, 0); }},
	{"format-metadata-extended", 21, Hook::adminData, connecting, Expect::nsRefused, nothing,
		[](S &s) { return format(s, 8, 0, extended); }},
	{"format-metadata-huge", 21, Hook::adminData, connecting, Expect::nsRefused, nothing,
		[](S &s) { return format(s, 0xffff, 1); }},
	{"format-metadata-more", 21, Hook::adminData, connecting, Expect::nsRefused, nothing,
		[](S &s) { return format(s, 16, 1, extended); }},
	{"format-pi-guard-32", 21, Hook::adminData, connecting, Expect::nsRefused, nothing,
		[](S &s) { return guard(s, 1 << 7); }},
	{"format-pi-guard-unknown", 21, Hook::adminData, connecting, Expect::nsRefused, nothing,
		[](S &s) { return guard(s, 3 << 7); }},
	{"format-pi-storage-tag", 21, Hook::adminData, connecting, Expect::nsRefused, nothing,
		[](S &s) { return guard(s, 2 << 7 | 16); }},
	{"format-pi-guard-untold", 21, Hook::adminData, connecting, Expect::nsRefused, nothing,
		[](S &s) { return format(s, 16, 1) || failed(s.identify(cns_cs_ns), s, st_invalid_field | st_dnr); }},
	{"format-metadata-less", 21, Hook::adminData, connecting, Expect::nsRefused, nothing,
		[](S &s) { return format(s, 7, 1); }},
	{"format-pi-type-4", 21, Hook::adminData, connecting, Expect::nsRefused, nothing,
		[](S &s) { return format(s, 8, 4); }},
	{"format-pi-type-7", 21, Hook::adminData, connecting, Expect::nsRefused, nothing,
		[](S &s) { return format(s, 8, 7); }},
	{"format-pi-no-metadata", 21, Hook::adminData, connecting, Expect::harmless, nothing,
		[](S &s) { return format(s, 0, 1); }},
	{"format-reservations-odd", 21, Hook::adminData, connecting, Expect::harmless, nothing,
		[](S &s) { return poke<std::uint8_t>(s.identify(cns_ns), s, at::rescap, 0xff); }},
	{"format-atomic-huge", 21, Hook::adminData, connecting, Expect::harmless, nothing,
		[](S &s) { return atomic(s, 0xffff, 0); }},
	{"format-atomic-odd", 21, Hook::adminData, connecting, Expect::harmless, nothing,
		[](S &s) { return atomic(s, 6, 0); }},
	{"format-atomic-boundary-odd", 21, Hook::adminData, connecting, Expect::harmless, nothing,
		[](S &s) { return atomic(s, 15, 12); }},
	{"format-atomic-boundary-small", 21, Hook::adminData, connecting, Expect::harmless, nothing,
		[](S &s) { return atomic(s, 15, 3); }},
	{"format-atomic-offset", 21, Hook::adminData, connecting, Expect::harmless, nothing,
		[](S &s) { return atomic(s, 15, 31, 3); }},
	{"format-awupf-huge", 21, Hook::adminData, connecting, Expect::harmless, nothing,
		[](S &s) { return poke<std::uint16_t>(s.identify(cns_ctrl), s, at::awupf, 0xffff); }},
	{"format-awupf-odd", 21, Hook::adminData, connecting, Expect::harmless, nothing,
		[](S &s) { return poke<std::uint16_t>(s.identify(cns_ctrl), s, at::awupf, 4); }},
	{"format-dlfeat-unknown", 21, Hook::adminData, connecting, Expect::harmless, nothing,
		[](S &s) { return poke<std::uint8_t>(s.identify(cns_ns), s, at::dlfeat, 0xff); }},
};
// clang-format on

} // namespace

std::span<const Misbehaviour> formatMisbehaviours()
{
	return formatTable;
}

} // namespace target
