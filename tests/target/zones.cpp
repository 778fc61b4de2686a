// SPDX-License-Identifier: LGPL-2.1-or-later
#include "zones.h"

#include <algorithm>

namespace target {
namespace {

constexpr std::uint16_t boundary = 0x1b8 | st_dnr, full = 0x1b9 | st_dnr, invalidWrite = 0x1bc | st_dnr,
			tooManyActive = 0x1bd | st_dnr, tooManyOpen = 0x1be | st_dnr,
			invalidTransition = 0x1bf | st_dnr;

constexpr std::size_t reportHeaderSize = 64, reportEntrySize = 64; // of a report, bytes

bool isOpen(ZoneState state)
{
	return state == zone_implicit || state == zone_explicit;
}

} // namespace

ZoneTable::ZoneTable(const ZoneShape &shape, std::uint64_t blocks) : shape_(shape), zones_(blocks / shape.blocks) {}

std::uint16_t ZoneTable::refuse(std::uint16_t status)
{
	refused_ += status != st_ok;
	return status;
}

std::uint64_t ZoneTable::count(bool open) const
{
	return static_cast<std::uint64_t>(std::ranges::count_if(
		zones_, [open](const Zone &z) { return isOpen(z.state) || (!open && z.state == zone_closed); }));
}

// An implicitly open zone is closed to make room for it
std::uint16_t ZoneTable::makeOpen(Zone &zone, ZoneState how)
{
	if (zone.state == zone_full)
		return full;
	bool active = isOpen(zone.state) || zone.state == zone_closed;
	if (!active && shape_.maxActive && count(false) >= shape_.maxActive)
		return tooManyActive;
	if (!isOpen(zone.state) && shape_.maxOpen && count(true) >= shape_.maxOpen) {
		auto other = std::ranges::find(zones_, zone_implicit, &Zone::state);
		if (other == zones_.end())
			return tooManyOpen;
		other->state = zone_closed;
	}
	if (zone.state != zone_explicit || how == zone_explicit)
		zone.state = how;
	return st_ok;
}

std::uint16_t ZoneTable::writeLocked(std::uint64_t slba, std::uint64_t blocks)
{
	auto &zone = zones_[slba / shape_.blocks];
	auto at = slba % shape_.blocks;
	if (zone.state == zone_full)
		return full;
	if (at + blocks > shape_.capacity)
		return boundary;
	if (at != zone.written)
		return invalidWrite;
	if (auto status = makeOpen(zone, zone_implicit))
		return status;
	zone.written += blocks;
	if (zone.written == shape_.capacity)
		zone.state = zone_full;
	return st_ok;
}

std::uint16_t ZoneTable::write(std::uint64_t slba, std::uint64_t blocks)
{
	std::lock_guard guard(lock_);
	return slba / shape_.blocks < zones_.size() ? refuse(writeLocked(slba, blocks)) : refuse(st_lba_range | st_dnr);
}

std::uint16_t ZoneTable::append(std::uint64_t slba, std::uint64_t blocks, std::uint64_t &at)
{
	std::lock_guard guard(lock_);
	if (slba / shape_.blocks >= zones_.size() || slba % shape_.blocks)
		return refuse(st_invalid_field | st_dnr);
	at = slba + zones_[slba / shape_.blocks].written;
	return refuse(writeLocked(at, blocks));
}

std::uint16_t ZoneTable::act(Zone &zone, std::uint8_t action)
{
	switch (action) {
	case zone_open:
		return makeOpen(zone, zone_explicit);
	case zone_close:
		if (isOpen(zone.state))
			zone.state = zone.written ? zone_closed : zone_empty;
		if (zone.state == zone_full || zone.state == zone_empty)
			return invalidTransition;
		return st_ok;
	case zone_finish:
		zone.state = zone_full;
		return st_ok;
	case zone_reset:
		zone = {};
		return st_ok;
	}
	return st_invalid_field | st_dnr;
}

std::uint16_t ZoneTable::manage(std::uint64_t slba, std::uint8_t action, bool all)
{
	std::lock_guard guard(lock_);
	managed_++;
	if (all && action == zone_reset) {
		std::ranges::fill(zones_, Zone{});
		return st_ok;
	}
	if (all || slba / shape_.blocks >= zones_.size() || slba % shape_.blocks)
		return refuse(st_invalid_field | st_dnr);
	auto &zone = zones_[slba / shape_.blocks];
	bool closedEmpty = action == zone_close && isOpen(zone.state) && !zone.written;
	auto status = act(zone, action);
	return refuse(closedEmpty ? std::uint16_t(st_ok) : status);
}

Bytes ZoneTable::report(std::uint64_t slba, std::size_t bytes, bool partial)
{
	std::lock_guard guard(lock_);
	reports_++;
	Bytes data(bytes);
	if (bytes < reportHeaderSize)
		return data;
	auto first = std::min<std::uint64_t>(slba / shape_.blocks, zones_.size());
	auto there = zones_.size() - first,
	     fit = std::min<std::uint64_t>(there, (bytes - reportHeaderSize) / reportEntrySize);
	put<std::uint64_t>(data, 0, partial ? fit : there);
	for (std::uint64_t i = 0; i < fit; i++) {
		auto &zone = zones_[first + i];
		auto start = (first + i) * shape_.blocks, at = reportHeaderSize + i * reportEntrySize;
		put<std::uint8_t>(data, at, 2); // written in order only
		put<std::uint8_t>(data, at + 1, static_cast<std::uint8_t>(zone.state << 4));
		put<std::uint64_t>(data, at + 8, shape_.capacity);
		put<std::uint64_t>(data, at + 16, start);
		put<std::uint64_t>(data, at + 24, zone.state == zone_full ? ~0ull : start + zone.written);
	}
	return data;
}

void ZoneTable::resize(std::uint64_t blocks)
{
	std::lock_guard guard(lock_);
	zones_.resize(blocks / shape_.blocks);
}

ZoneState ZoneTable::state(std::uint64_t zone) const
{
	std::lock_guard guard(lock_);
	return zones_.at(zone).state;
}

std::uint64_t ZoneTable::wp(std::uint64_t zone) const
{
	std::lock_guard guard(lock_);
	return zone * shape_.blocks + zones_.at(zone).written;
}

std::uint64_t ZoneTable::refused() const
{
	std::lock_guard guard(lock_);
	return refused_;
}

std::uint64_t ZoneTable::managed() const
{
	std::lock_guard guard(lock_);
	return managed_;
}

std::uint64_t ZoneTable::reports() const
{
	std::lock_guard guard(lock_);
	return reports_;
}

} // namespace target
