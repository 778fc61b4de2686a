// SPDX-License-Identifier: LGPL-2.1-or-later
// Reading a discovery log that may change while it is read, from a target that may tell anything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <nvmeof/discovery.h>
#include <nvmeof/result.h>

namespace nofctl {

inline constexpr std::uint64_t mostDiscoveryEntries = 16384; // 16 MiB: more than any fabric has ports
inline constexpr int discoveryTries = 10;

// Where the log comes from.
class LogSource {
public:
	virtual ~LogSource() = default;

	// All of @to, from that byte of the log on. @retain: an event that told of a change stays as it is.
	virtual nvmeof::Result<void> read(std::uint64_t offset, std::span<std::byte> to, bool retain) = 0;
	// Most bytes of one read, 1,024 at least.
	virtual std::size_t most() const = 0;
	// Whether a read may begin behind the first byte of the log.
	virtual bool offsets() const = 0;
	// What is read next is read anew. False: that is no use any more, there is no time left.
	virtual bool again(int tries) = 0;
};

/*
 * All of it, of one generation: when the counter is another one at the end than it was before, or the target says that
 * the log has changed (Discover Restart), it is read again, discoveryTries times at most. An error is about reading, or
 * about the log as a whole; what is wrong with an entry is said there.
 */
nvmeof::Result<nvmeof::DiscoveryLog> readDiscoveryLog(LogSource &source);

} // namespace nofctl
