// SPDX-License-Identifier: LGPL-2.1-or-later
// Findings of the checks of a machine: level, reason, advice and source.
#pragma once

#include <string>
#include <vector>

#include "node.h"
#include "peer_table.h"

namespace nofctl::gpu {

struct Finding {
	Level level = Level::pass;
	std::string check;   // the check: "peers", "acs", "bar", ...
	std::string subject; // "0000:07:00.0", "nvmeof0n1"
	std::string what;
	std::string step; // advice; empty: none
	std::string row;  // id of the row in the peer table, or of the rule
	std::string source;
};

using Findings = std::vector<Finding>;

Level worst(const Findings &findings);

// A GPU and a NIC or drive
struct Pair {
	const PciDevice *gpu = nullptr, *peer = nullptr;
	PeerState state;
	const PeerRow *row = nullptr;
	Level level = Level::pass; // for the means that apply to this GPU
	std::vector<const PciDevice *> redirects;
};

// The objects to check. If no GPU is named, all GPUs; if no disk is named, all of our disks.
struct CheckRequest {
	std::vector<std::string> gpus;  // PCI addresses; devices that are not known as GPUs stand in for GPUs
	std::vector<std::string> disks; // names
};

struct CheckReport {
	std::vector<const PciDevice *> gpus;
	std::vector<const PciDevice *> cards; // NICs and drives of the disks; without disks, the NICs of the node
	std::vector<const Disk *> disks;
	std::vector<Pair> pairs; // each GPU with each card
	Findings findings;
};

// The result refers to @node.
CheckReport check(const Node &node, const CheckRequest &question);

// Parts of check()
std::vector<P2pMethod> methodsOf(const Node &node, const PciDevice &gpu);
Pair pairOf(const Node &node, const PciDevice &gpu, const PciDevice &peer);
void checkPairs(CheckReport &answer, const Node &node);
void checkDevice(Findings &findings, const Node &node, const PciDevice &device);
void checkGpu(Findings &findings, const Node &node, const PciDevice &gpu);
void checkCard(Findings &findings, const Node &node, const PciDevice &card);
void checkSoftware(Findings &findings, const Node &node, const std::vector<const PciDevice *> &gpus);
void checkDisk(Findings &findings, const Node &node, const Disk &disk);

// "setpci -s 0000:02:00.0 ECAP_ACS+6.w=0000:002c", which clears the ACS bits that redirect peer-to-peer traffic
std::string clearRedirects(const PciDevice &bridge);

} // namespace nofctl::gpu
