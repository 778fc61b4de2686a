// SPDX-License-Identifier: LGPL-2.1-or-later
// Misbehaviour about reservations. Always armed, while one host is registered with a key; the test runs the command
// that shows the holder, or changes something by ioctl.
#include "acts.h"
#include "connection.h"

namespace target {
namespace {

using namespace acts;

// Offsets in a report, and in its entries
constexpr std::size_t typeAt = 4, countAt = 5, entriesAt = 64;
constexpr std::size_t statusAt = 2, keyAt = 8, hostAt = 16;

bool hasEntries(const S &s, std::size_t nr)
{
	return s.data->size() >= entriesAt * (1 + nr);
}

// Two entries; the second is a copy of the first with one field changed
bool second(S &s, std::size_t field, std::uint64_t value)
{
	return when(hasEntries(s, 2), [&] {
		std::copy_n(s.data->begin() + entriesAt, entriesAt, s.data->begin() + 2 * entriesAt);
		put<std::uint16_t>(*s.data, countAt, 2);
		put<std::uint64_t>(*s.data, 2 * entriesAt + field, value);
	});
}

template <class T> bool changeReport(S &s, std::size_t field, T value)
{
	return poke<T>(hasEntries(s, 1), s, field, value);
}

bool is(S &s, std::uint8_t opcode)
{
	return s.io() && s.is(opcode);
}

// clang-format off
const Misbehaviour reservationTable[] = {
	{"resv-type-unknown", 21, Hook::report, io, Expect::refused, nothing,
		[](S &s) { return changeReport<std::uint8_t>(s, typeAt, 7); }},
	{"resv-type-huge", 21, Hook::report, io, Expect::refused, nothing,
		[](S &s) { return changeReport<std::uint8_t>(s, typeAt, 255); }},
	{"resv-count-huge", 21, Hook::report, io, Expect::refused, nothing,
		[](S &s) { return changeReport<std::uint16_t>(s, countAt, 0xffff); }},
	{"resv-count-beyond", 21, Hook::report, io, Expect::refused, nothing,
		[](S &s) { return changeReport<std::uint16_t>(s, countAt, 1024); }},
	{"resv-count-more", 21, Hook::report, io, Expect::refused, nothing, // zeroed entries follow
		[](S &s) { return changeReport<std::uint16_t>(s, countAt, 2); }},
	{"resv-count-grows", 21, Hook::report, io, Expect::refused, nothing,
		[](S &s) { return changeReport(s, countAt, static_cast<std::uint16_t>(s.data->size() / entriesAt)); }},
	{"resv-count-none", 21, Hook::report, io, Expect::refused, nothing, // although the namespace is held
		[](S &s) { return changeReport<std::uint8_t>(s, typeAt, 1) &&
				  changeReport<std::uint16_t>(s, countAt, 0); }},
	{"resv-no-key", 21, Hook::report, io, Expect::refused, nothing,
		[](S &s) { return changeReport<std::uint64_t>(s, entriesAt + keyAt, 0); }},
	{"resv-no-holder", 21, Hook::report, io, Expect::refused, nothing,
		[](S &s) { return changeReport<std::uint8_t>(s, typeAt, 2) &&
				  changeReport<std::uint8_t>(s, entriesAt + statusAt, 0); }},
	{"resv-held-untyped", 21, Hook::report, io, Expect::refused, nothing,
		[](S &s) { return changeReport<std::uint8_t>(s, typeAt, 0) &&
				  changeReport<std::uint8_t>(s, entriesAt + statusAt, 1); }},
	{"resv-two-keys", 21, Hook::report, io, Expect::refused, nothing,
		[](S &s) { return second(s, keyAt, 0x0bad); }},
	{"resv-two-holders", 21, Hook::report, io, Expect::refused, nothing,
		[](S &s) { return changeReport<std::uint8_t>(s, typeAt, 1) &&
				  changeReport<std::uint8_t>(s, entriesAt + statusAt, 1) &&
				  second(s, hostAt, ~0ull) &&
				  changeReport<std::uint64_t>(s, 2 * entriesAt + keyAt, 0x0bad); }},
	{"resv-host-twice", 21, Hook::report, io, Expect::harmless, nothing, // one entry per controller
		[](S &s) { return second(s, keyAt, get<std::uint64_t>(*s.data, entriesAt + keyAt)); }},
	{"resv-generation-wild", 21, Hook::report, io, Expect::harmless, nothing,
		[](S &s) { return changeReport<std::uint32_t>(s, 0, 0xffffffff); }},
	{"resv-report-ones", 21, Hook::report, io, Expect::refused, nothing,
		[](S &s) { std::fill(s.data->begin(), s.data->end(), 0xff); return true; }},
	{"resv-report-failed", 21, Hook::execute, io, Expect::refused, nothing,
		[](S &s) { return failed(is(s, op_resv_report), s, st_internal | st_dnr); }},
	{"resv-report-not-now", 21, Hook::execute, io, Expect::retried, nothing, // retried on another path
		[](S &s) { return failed(is(s, op_resv_report), s, st_ns_not_ready); }},
	{"resv-report-conflict", 21, Hook::execute, io, Expect::refused, nothing, // a status that reports cannot have
		[](S &s) { return failed(is(s, op_resv_report), s, st_resv_conflict); }},
};

// Armed by name; the test knows the expected outcome.
const Misbehaviour otherTable[] = {
	{"resv-conflict-dnr", 26, Hook::execute, io, Expect::error, nothing,
		[](S &s) { return failed(s.ioWrite(), s, st_resv_conflict | st_dnr); }},
	{"resv-conflict-again", 26, Hook::execute, io, Expect::error, nothing, // without DNR, still not retried
		[](S &s) { return failed(s.ioWrite(), s, st_resv_conflict); }},
	{"resv-register-forgotten", 26, Hook::execute, io, Expect::error, nothing, // succeeds without doing anything
		[](S &s) { return failed(is(s, op_resv_register), s, st_ok); }},
	{"resv-register-unknown", 26, Hook::execute, io, Expect::error, nothing,
		[](S &s) { return failed(is(s, op_resv_register), s, st_invalid_opcode | st_dnr); }},
	{"resv-acquire-busy", 26, Hook::execute, io, Expect::error, nothing, // always
		[](S &s) { return failed(is(s, op_resv_acquire), s, st_internal); }},
};
// clang-format on

} // namespace

std::span<const Misbehaviour> reservationMisbehaviours()
{
	return reservationTable;
}

std::span<const Misbehaviour> otherReservationMisbehaviours()
{
	return otherTable;
}

} // namespace target
