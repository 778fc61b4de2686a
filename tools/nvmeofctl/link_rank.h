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

/*
 * The name of a node of ours (nvmeof12n3, ngnvmeof12n3, nvmeof12c3) in the form of the in-tree driver's, which is all
 * that nvme-cli opens from version 3.0 on: nvme100120000n3, ng100120000n3, nvme100120003. The number is 100,000,000
 * and ten thousand for each subsystem, and of a controller its own: out of the way of that driver, which counts from
 * 0. Empty for other nodes, partitions too, and for numbers that do not fit.
 */
std::string inTreeName(std::string_view node);
