// SPDX-License-Identifier: LGPL-2.1-or-later
#include "reservations.h"

#include <algorithm>

namespace target {
namespace {

constexpr std::uint16_t conflict = st_resv_conflict | st_dnr, invalid = st_invalid_field | st_dnr;
constexpr std::size_t reservationEntrySize = 64; // bytes of a report entry and of the report header

enum : std::uint8_t { enroll_new, enroll_end, enroll_replace };
enum : std::uint8_t { acquire_plain, acquire_preempt, acquire_abort };
enum : std::uint8_t { release_plain, release_clear };

} // namespace

Reservations::Registrant *Reservations::find(const HostId &host)
{
	auto at = std::ranges::find(registrants_, host, &Registrant::host);
	return at == registrants_.end() ? nullptr : &*at;
}

// Releases the reservation; registrants of a shared type get a notice.
void Reservations::free(const HostId &by, Notices &tell)
{
	bool shared = type_ >= resv_write_exclusive_registrants;
	type_ = resv_none;
	for (auto &r : registrants_) {
		r.holder = false;
		if (shared && r.host != by)
			tell.push_back({r.host, ReservationNotice::released});
	}
}

void Reservations::hold(const HostId &host, std::uint8_t type)
{
	type_ = type;
	for (auto &r : registrants_)
		r.holder = r.host == host;
}

std::uint16_t Reservations::unregister(Registrant *who, bool ignoreKey, std::uint64_t key, Notices &tell)
{
	if (!who || (!ignoreKey && who->key != key))
		return conflict;
	auto host = who->host;
	bool frees = type_ && (allHold() ? registrants_.size() == 1 : who->holder);
	registrants_.erase(registrants_.begin() + (who - registrants_.data()));
	if (frees)
		free(host, tell);
	generation_++;
	return st_ok;
}

std::uint16_t Reservations::registerKey(const HostId &host, std::uint8_t action, bool ignoreKey, std::uint64_t key,
					std::uint64_t newKey, Notices &tell)
{
	std::lock_guard guard(lock_);
	changes_++;
	auto *who = find(host);
	switch (action) {
	case enroll_new:
		if (!newKey)
			return invalid;
		if (who)
			return who->key == newKey ? std::uint16_t(st_ok) : conflict;
		registrants_.push_back({host, newKey});
		generation_++;
		return st_ok;
	case enroll_end:
		return unregister(who, ignoreKey, key, tell);
	case enroll_replace:
		if (!newKey)
			return invalid;
		if (!who || (!ignoreKey && who->key != key))
			return conflict;
		who->key = newKey;
		generation_++;
		return st_ok;
	}
	return invalid;
}

std::uint16_t Reservations::preempt(const HostId &host, std::uint8_t type, std::uint64_t victim, Notices &tell)
{
	auto is = [&](const Registrant &r) { return victim ? r.key == victim : r.host != host; };
	if (!victim && !allHold())
		return invalid;
	if (std::ranges::none_of(registrants_, is) && victim)
		return conflict;
	bool takes =
		type_ &&
		(allHold() ? !victim : std::ranges::any_of(registrants_, [&](auto &r) { return is(r) && r.holder; }));
	for (auto &r : registrants_)
		if (is(r) && r.host != host)
			tell.push_back({r.host, ReservationNotice::registration_preempted});
	std::erase_if(registrants_, [&](auto &r) { return is(r) && r.host != host; });
	if (takes || !type_)
		hold(host, type);
	generation_++;
	return st_ok;
}

std::uint16_t Reservations::acquire(const HostId &host, std::uint8_t action, std::uint8_t type, std::uint64_t key,
				    std::uint64_t victim, Notices &tell)
{
	std::lock_guard guard(lock_);
	changes_++;
	auto *who = find(host);
	if (type < resv_write_exclusive || type > resv_exclusive_access_all)
		return invalid;
	if (!who || who->key != key)
		return conflict;
	switch (action) {
	case acquire_plain:
		if (type_)
			return holdsLocked(*who) && type_ == type ? std::uint16_t(st_ok) : conflict;
		hold(host, type);
		return st_ok;
	case acquire_preempt:
	case acquire_abort:
		return preempt(host, type, victim, tell);
	}
	return invalid;
}

std::uint16_t Reservations::release(const HostId &host, std::uint8_t action, std::uint8_t type, std::uint64_t key,
				    Notices &tell)
{
	std::lock_guard guard(lock_);
	changes_++;
	auto *who = find(host);
	if (!who || who->key != key)
		return conflict;
	switch (action) {
	case release_plain:
		if (!type_ || !holdsLocked(*who))
			return st_ok;
		if (type_ != type)
			return invalid;
		free(host, tell);
		return st_ok;
	case release_clear:
		for (auto &r : registrants_)
			if (r.host != host)
				tell.push_back({r.host, ReservationNotice::reservation_preempted});
		registrants_.clear();
		type_ = resv_none;
		generation_++;
		return st_ok;
	}
	return invalid;
}

Bytes Reservations::report(std::size_t bytes) const
{
	std::lock_guard guard(lock_);
	Bytes data(reservationEntrySize * (1 + registrants_.size()));
	put<std::uint32_t>(data, 0, generation_);
	put<std::uint8_t>(data, 4, type_);
	put<std::uint16_t>(data, 5, static_cast<std::uint16_t>(registrants_.size()));
	put<std::uint8_t>(data, 9, 1); // PTPLS: persists through power loss
	auto at = reservationEntrySize;
	for (auto &r : registrants_) {
		put<std::uint16_t>(data, at, 0xffff); // CNTLID: dynamic
		put<std::uint8_t>(data, at + 2, holdsLocked(r));
		put<std::uint64_t>(data, at + 8, r.key);
		std::ranges::copy(r.host, data.begin() + static_cast<std::ptrdiff_t>(at) + 16);
		at += reservationEntrySize;
	}
	data.resize(bytes);
	return data;
}

bool Reservations::allows(const HostId &host, std::uint8_t opcode, bool write) const
{
	std::lock_guard guard(lock_);
	if (!type_ || isReservation(opcode))
		return true;
	auto at = std::ranges::find(registrants_, host, &Registrant::host);
	bool registered = at != registrants_.end();
	if (registered && (type_ >= resv_write_exclusive_registrants || at->holder))
		return true;
	bool readable = type_ == resv_write_exclusive || type_ == resv_write_exclusive_registrants ||
			type_ == resv_write_exclusive_all;
	return !write && readable;
}

std::size_t Reservations::registrants() const
{
	std::lock_guard guard(lock_);
	return registrants_.size();
}

std::uint64_t Reservations::keyOf(const HostId &host) const
{
	std::lock_guard guard(lock_);
	auto at = std::ranges::find(registrants_, host, &Registrant::host);
	return at == registrants_.end() ? 0 : at->key;
}

bool Reservations::holds(const HostId &host) const
{
	std::lock_guard guard(lock_);
	auto at = std::ranges::find(registrants_, host, &Registrant::host);
	return at != registrants_.end() && holdsLocked(*at);
}

ReservationType Reservations::type() const
{
	std::lock_guard guard(lock_);
	return static_cast<ReservationType>(type_);
}

std::uint64_t Reservations::changes() const
{
	std::lock_guard guard(lock_);
	return changes_;
}

} // namespace target
