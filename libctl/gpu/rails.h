// SPDX-License-Identifier: LGPL-2.1-or-later
// Rails: a rail is a GPU with the NIC that serves it. GPUs share NICs only if there are not enough; the best and
// nearest pairs are assigned first.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include <nvmeof/config.h>
#include <nvmeof/result.h>

#include "finding.h"
#include "tree.h"

namespace nofctl::gpu {

struct Rail {
	const PciDevice *gpu = nullptr, *card = nullptr;
	Pair pair;
	std::string interface; // of the NIC, eth0; empty: none
};

// One rail per GPU, in that order; none if there are no cards. The result refers to @node.
std::vector<Rail> planRails(const Node &node, const std::vector<const PciDevice *> &gpus,
			    const std::vector<const PciDevice *> &cards);
// NICs with a link, or with an interface in @used; if any of these has RDMA, only those with RDMA.
std::vector<const PciDevice *> railCards(const Node &node, const std::set<std::string> &used = {});

// The interfaces to storage for @gpu, or for all GPUs if it is "all", without duplicates. noSuchObject: no such GPU, or
// no NIC with an interface. @used: interfaces of connections that exist, which a loss of the link does not move.
nvmeof::Result<std::vector<std::string>> railInterfaces(const Node &node, const std::string &gpu,
							const std::set<std::string> &used = {});

// A disk's paths through one NIC
struct CardUse {
	const Disk *disk = nullptr;
	std::vector<const DiskPath *> paths;
};
std::vector<CardUse> usesOf(const Node &node, const PciDevice &card);

// Interfaces by the rail's text in the configuration
using SpreadRails = std::map<std::string, std::vector<std::string>>;

// Replaces each connection with a rail by one connection per interface of that rail. If there is no interface, the
// connection uses default routing, and the returned notes give the reason. @used: see railInterfaces(). @earlier: the
// rails of the call before, which become those of this one; null: none. A rail stays as it was while one of its
// interfaces that is used is absent or has no RDMA any more: a driver may be in the process of being reloaded.
std::vector<std::string> spreadOverRails(nvmeof::Config &config, const Tree &tree,
					 const std::set<std::string> &used = {}, SpreadRails *earlier = nullptr);

} // namespace nofctl::gpu
