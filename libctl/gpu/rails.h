// SPDX-License-Identifier: LGPL-2.1-or-later
// Which card serves which GPU: each has one of its own as far as there are enough, the nearest first.
#pragma once

#include <string>
#include <vector>

#include <nvmeof/result.h>

#include "finding.h"

namespace nofctl::gpu {

struct Rail {
	const PciDevice *gpu = nullptr, *card = nullptr;
	Pair pair;
	std::string interface; // of the card, eth0; empty: it has none
};

// One for each GPU, in their order; none without cards. Refers to @node.
std::vector<Rail> planRails(const Node &node, const std::vector<const PciDevice *> &gpus,
			    const std::vector<const PciDevice *> &cards);
// Cards that can be one's: with a link, with RDMA where any has it.
std::vector<const PciDevice *> railCards(const Node &node);

// The interfaces that lead to storage for @gpu, or for "all" GPUs, each once. An error where there is no such GPU or
// no card with an interface.
nvmeof::Result<std::vector<std::string>> railInterfaces(const Node &node, const std::string &gpu);

// A disk's paths by a card
struct CardUse {
	const Disk *disk = nullptr;
	std::vector<const DiskPath *> paths;
};
std::vector<CardUse> usesOf(const Node &node, const PciDevice &card);

} // namespace nofctl::gpu
