// SPDX-License-Identifier: LGPL-2.1-or-later
// Which of several disks that are the same namespace has the links in /dev/disk, and which links a disk of ours has.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The highest rank there is a rule for: 61-nvmeof-links.rules
inline constexpr unsigned lowestLinkRank = 8;

// What is known of a disk's claim to the links.
struct LinkClaim {
	std::optional<unsigned> rank; // udev has handled it, with that rank; 0 has the links
	std::uint64_t sequence = 0;   // smaller: there before
};

/*
 * Rank of a disk among @others, which are the same namespace: behind each that is ahead of it. Ahead are those that
 * udev has handled before, in the order of their ranks; then, of those it has not, the ones that were there before. So
 * a disk keeps its place, and moves up when those ahead are gone.
 */
unsigned linkRank(const LinkClaim &disk, const std::vector<LinkClaim> &others);

/*
 * Of @links (paths in /dev, as udev's DEVLINKS has them) those that belong to one namespace alone, with their paths
 * below /dev: all but nvme-MODEL_SERIAL, which is @serial (nvme-MODEL_SERIAL_NSID) without @nsid, and its partitions'.
 */
std::string linksOfNamespace(std::string_view links, std::string_view serial, std::string_view nsid);
