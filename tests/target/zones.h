// SPDX-License-Identifier: LGPL-2.1-or-later
// The zones of a zoned namespace; ZNS Command Set 1.1.
#pragma once

#include "wire.h"

#include <mutex>

namespace target {

// All in blocks except maxOpen and maxActive, in zones (0: no limit)
struct ZoneShape {
	std::uint64_t blocks = 2048;
	std::uint64_t capacity = 2048;
	std::uint32_t maxOpen = 0;
	std::uint32_t maxActive = 0;
};

enum ZoneState : std::uint8_t {
	zone_empty = 1,
	zone_implicit = 2,
	zone_explicit = 3,
	zone_closed = 4,
	zone_full = 0xe,
};

enum ZoneAction : std::uint8_t { zone_close = 1, zone_finish = 2, zone_open = 3, zone_reset = 4 };

class ZoneTable {
public:
	ZoneTable(const ZoneShape &shape, std::uint64_t blocks);

	const ZoneShape &shape() const { return shape_; }
	// Each returns an NVMe status. append() sets `at` to the first block written.
	std::uint16_t write(std::uint64_t slba, std::uint64_t blocks);
	std::uint16_t append(std::uint64_t slba, std::uint64_t blocks, std::uint64_t &at);
	std::uint16_t manage(std::uint64_t slba, std::uint8_t action, bool all);
	// Reports zones from the one that contains slba, as many as fit.
	Bytes report(std::uint64_t slba, std::size_t bytes, bool partial);

	// The namespace has this many blocks now.
	void resize(std::uint64_t blocks);

	// For tests
	ZoneState state(std::uint64_t zone) const;
	std::uint64_t wp(std::uint64_t zone) const;
	std::uint64_t refused() const; // writes and actions refused so far
	std::uint64_t managed() const; // actions executed
	std::uint64_t reports() const;

private:
	struct Zone {
		ZoneState state = zone_empty;
		std::uint64_t written = 0;
	};

	std::uint16_t writeLocked(std::uint64_t slba, std::uint64_t blocks);
	std::uint16_t act(Zone &zone, std::uint8_t action);
	std::uint16_t makeOpen(Zone &zone, ZoneState how);
	std::uint64_t count(bool open) const;
	std::uint16_t refuse(std::uint16_t status);

	const ZoneShape shape_;
	mutable std::mutex lock_;
	std::vector<Zone> zones_;
	std::uint64_t refused_ = 0, managed_ = 0, reports_ = 0;
};

} // namespace target
