// SPDX-License-Identifier: LGPL-2.1-or-later
// Discovery logs of untrusted targets: reads a log, which may change during the read, and decodes its entries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <nvmeof/discovery.h>
#include <nvmeof/result.h>

#include "libctl/wire/discovery_log.h"

namespace nofctl {

inline constexpr int discoveryTries = 10;

// Access to the log page.
class LogSource {
public:
	virtual ~LogSource() = default;

	// Fills @to with the log from byte @offset on. @retain: sets Retain Asynchronous Event
	virtual nvmeof::Result<void> read(std::uint64_t offset, std::span<std::byte> to, bool retain) = 0;
	// Maximum size of one read, bytes; 1,024 at least.
	virtual std::size_t max() const = 0;
	// Whether a read may start at an offset (LPA bit 2).
	virtual bool offsets() const = 0;
	// Called before the log is read again. May sleep. False: give up, the time is over.
	virtual bool again(int tries) = 0;
};

/*
 * Reads the whole log of one generation. If the generation counter changes during the read, or the target returns
 * Discover Restart, the log is read again, up to discoveryTries times. Errors are about reading or about the log as a
 * whole; a defect of an entry is in DiscoveryEntry::defect.
 */
nvmeof::Result<nvmeof::DiscoveryLog> readDiscoveryLog(LogSource &source);

// Decodes one entry of a discovery log page. @raw may contain anything: errors are described in DiscoveryEntry::defect.
nvmeof::DiscoveryEntry describe(const wire::DiscoveryEntry &raw);

} // namespace nofctl
