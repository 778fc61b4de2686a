// SPDX-License-Identifier: LGPL-2.1-or-later
// What a look at a machine has found: good or not, why, what to do, and who says so.
#pragma once

#include <string>
#include <vector>

#include "node.h"
#include "peer_table.h"

namespace nofctl::gpu {

struct Finding {
	Level level = Level::pass;
	std::string check;   // "peers", "acs", "bar", ...: what was looked at
	std::string subject; // "0000:07:00.0", "nvmeof0n1"
	std::string what;
	std::string step; // to take; empty: none
	std::string row;  // of the table, or the name of the rule
	std::string source;
};

using Findings = std::vector<Finding>;

Level worst(const Findings &findings);

// A GPU and a card or drive
struct Pair {
	const PciDevice *gpu = nullptr, *peer = nullptr;
	PeerState state;
	const PeerRow *row = nullptr;
	Level level = Level::pass; // for the means that this GPU has
	std::vector<const PciDevice *> redirects;
};

// What is asked for: all GPUs where none is named, all disks of ours likewise.
struct Question {
	std::vector<std::string> gpus;  // PCI addresses; others than known GPUs stand in for some
	std::vector<std::string> disks; // names
};

struct Answer {
	std::vector<const PciDevice *> gpus;
	std::vector<const PciDevice *> cards; // that lead to the disks; those of the node where none does
	std::vector<const Disk *> disks;
	std::vector<Pair> pairs; // each GPU with each card and local drive
	Findings findings;
};

// Refers to @node.
Answer check(const Node &node, const Question &question);

// The parts of it
std::vector<Means> meansOf(const Node &node, const PciDevice &gpu);
Pair pairOf(const Node &node, const PciDevice &gpu, const PciDevice &peer);
void checkPairs(Answer &answer, const Node &node);
void checkDevice(Findings &findings, const Node &node, const PciDevice &device);
void checkGpu(Findings &findings, const Node &node, const PciDevice &gpu);
void checkCard(Findings &findings, const Node &node, const PciDevice &card);
void checkSoftware(Findings &findings, const Node &node, const std::vector<const PciDevice *> &gpus);
void checkDisk(Findings &findings, const Node &node, const Disk &disk);

// "setpci -s 0000:02:00.0 ECAP_ACS+6.w=0000:002c", which clears the bits by which peers' traffic is redirected
std::string clearRedirects(const PciDevice &bridge);

} // namespace nofctl::gpu
