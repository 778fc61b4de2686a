// SPDX-License-Identifier: LGPL-2.1-or-later
// A stripe over namespaces: which, in which order, with what chunk. No I/O.
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
	std::string wwid; // how the configuration names it
	std::uint64_t bytes = 0;
	unsigned block = 512, optimal = 0; // bytes
	bool zoned = false;
	std::string subsystem; // its NQN: what fails together
	std::string owner;     // controllers with optimized paths, "nvmeof0c1 nvmeof0c3"
	unsigned usable = 0;   // paths
};

// From what the driver tells; block sizes and zones are for the caller to fill in.
std::vector<Member> membersOf(const nvmeof::Snapshot &all);

struct Wish {
	unsigned width = 0;      // members; 0: all that are given
	std::uint64_t chunk = 0; // bytes; 0: by the members' optimal I/O size
	bool keepOrder = false;  // as given
};

struct Layout {
	std::vector<Member> members;    // in the order of the stripe
	std::uint64_t chunk = 0;        // bytes
	std::uint64_t bytes = 0;        // of the stripe
	std::uint64_t unused = 0;       // of members that are larger than the smallest
	std::vector<std::string> notes; // what is lost, or odd

	std::uint64_t fullStripe() const { return chunk * members.size(); }
};

inline constexpr std::uint64_t defaultChunk = 128 << 10, leastChunk = 4 << 10, mostChunk = 16 << 20; // bytes
inline constexpr std::size_t mostMembers = 256;
inline constexpr std::uint64_t sector = 512; // bytes, device mapper's unit

nvmeof::Result<Layout> planStripe(std::vector<Member> members, const Wish &wish);

// "/dev/nvmeof0n1" of each, and sectors: "16 256 /dev/nvmeof0n1 0 ..."; device mapper, "striped" target
std::string stripedParameters(const std::vector<std::string> &devices, std::uint64_t chunk);

// What mkfs is to know: {"-d", "su=131072,sw=16"}; {"-E", "stride=32,stripe_width=512"}. No such file system: invalid.
nvmeof::Result<std::vector<std::string>> mkfsOptions(const std::string &type, std::uint64_t chunk, std::size_t width);

// "128KiB" for 131072; what is no multiple of 1 KiB as it is
std::string sizeText(std::uint64_t bytes);
// "128KiB", "1M", "65536"; nothing: it is none.
std::optional<std::uint64_t> parseSize(std::string_view text);

} // namespace nofctl::stripe
