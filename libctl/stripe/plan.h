// SPDX-License-Identifier: LGPL-2.1-or-later
// Plans a stripe over namespaces: members, order and chunk size. Only the checks of disks at the end do I/O.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nvmeof/result.h>
#include <nvmeof/snapshot.h>

namespace nofctl::stripe {

struct Member {
	std::string disk; // nvmeof0n1
	std::string wwid; // identifies the disk in the configuration
	std::uint64_t bytes = 0;
	unsigned block = 512, optimal = 0; // logical block and optimal I/O size, bytes
	bool zoned = false;
	std::string subsystem; // NQN; its disks fail together
	std::string owner;     // controllers with optimized paths, "nvmeof0c1 nvmeof0c3"
	unsigned usable = 0;   // usable paths
};

// The disks known to the driver. The caller fills in optimal I/O size and zoned.
std::vector<Member> membersOf(const nvmeof::Snapshot &all);

struct Wish {
	unsigned width = 0;      // members; 0: all
	std::uint64_t chunk = 0; // bytes; 0: from the members' optimal I/O size
	bool keepOrder = false;  // use the members in the given order
};

struct Layout {
	std::vector<Member> members;    // in stripe order
	std::uint64_t chunk = 0;        // bytes
	std::uint64_t bytes = 0;        // size of the stripe
	std::uint64_t unused = 0;       // bytes of larger members beyond the smallest one
	std::vector<std::string> notes; // warnings

	std::uint64_t fullStripe() const { return chunk * members.size(); }
};

inline constexpr std::uint64_t defaultChunk = 128 << 10, minChunk = 4 << 10, maxChunk = 16 << 20; // bytes
inline constexpr std::size_t maxMembers = 256;
inline constexpr std::uint64_t sector = 512; // bytes, unit of device mapper

nvmeof::Result<Layout> planStripe(std::vector<Member> members, const Wish &wish);

// Parameters of a "striped" target: "16 256 /dev/nvmeof0n1 0 ...", with the chunk in sectors
std::string stripedParameters(const std::vector<std::string> &devices, std::uint64_t chunk);

// Arguments for mkfs: {"-d", "su=131072,sw=16"}; {"-E", "stride=32,stripe_width=512"}. invalid: unknown file system.
nvmeof::Result<std::vector<std::string>> mkfsOptions(const std::string &type, std::uint64_t chunk, std::size_t width);

// "128KiB" for 131072; without a unit if it is not a multiple of 1 KiB
std::string sizeText(std::uint64_t bytes);
// Accepts "128KiB", "1M", "65536"; nothing for other text.
std::optional<std::uint64_t> parseSize(std::string_view text);

// Checks of disks that are to become members of a stripe.

// Fills in optimal I/O size and zoned, from sysfs.
void readQueueLimits(Member &member);
// Fails if the disk is open or, unless @force is set, has data: a file system or partitions.
nvmeof::Result<void> checkFree(const Member &member, bool force);

} // namespace nofctl::stripe
