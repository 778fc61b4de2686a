// SPDX-License-Identifier: LGPL-2.1-or-later
// Selects the disk that has the links in /dev/disk if a namespace has several, and the links of a disk of this driver.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The highest rank that 61-nvmeof-links.rules has a rule for
inline constexpr unsigned lowestLinkRank = 8;

// Input for the rank of a disk.
struct LinkClaim {
	std::optional<unsigned> rank; // in the udev database; empty: not handled by udev yet; 0 has the links
	std::uint64_t sequence = 0;   // smaller: appeared earlier
};

/*
 * Rank of a disk among @others, which are disks of the same namespace: after every disk ahead of it. Disks that udev
 * has handled come first, ordered by rank; the rest follow in the order of their appearance. A disk therefore keeps its
 * position, and moves up when disks ahead of it are gone.
 */
unsigned linkRank(const LinkClaim &disk, const std::vector<LinkClaim> &others);

/*
 * The @links (udev's DEVLINKS) that belong to one namespace alone, as paths relative to /dev. Leaves out
 * nvme-MODEL_SERIAL and the links of its partitions, as all namespaces of a subsystem share that name. @serial:
 * ID_SERIAL, which is MODEL_SERIAL_NSID; @nsid: ID_NSID
 */
std::string linksOfNamespace(std::string_view links, std::string_view serial, std::string_view nsid);

/*
 * The name of a node of this driver (nvmeof12n3, ngnvmeof12n3, nvmeof12c3) in the form of the in-tree driver:
 * nvme100120000n3, ng100120000n3, nvme100120003. nvme-cli 3.0 and later opens no other names. The number is 100,000,000
 * plus 10,000 times the subsystem's number, plus a controller's own number. The in-tree driver counts from 0, so the
 * names do not collide. Empty for other nodes, for partitions, and for numbers out of range.
 */
std::string inTreeName(std::string_view node);
