// SPDX-License-Identifier: LGPL-2.1-or-later
// Identify data structures and log pages, as the target fills them.
#pragma once

#include "config.h"
#include "nvme.h"
#include "store.h"

namespace target {

struct Association;

Bytes identifyController(const Config &config, const Association &assoc);
Bytes identifyNamespace(const Config &config, const Store &store);
Bytes activeList(const Stores &stores, std::uint32_t above);
Bytes descriptors(const Store &store);
Bytes smartLog();
Bytes ccrLog(const Association &source);

// Pieces of an ANA log of any shape; Base 2.0, 5.16.1.13. The counts are written as told, right or wrong.
struct AnaGroup {
	std::uint32_t id;
	std::uint8_t state;
	std::vector<std::uint32_t> nsids;
	std::uint32_t toldNsids;
};
// By group; those not in it are optimized.
using AnaStates = std::map<std::uint32_t, AnaState>;
// Every group that has namespaces or a state of its own. groupsOnly: RGO, no NSIDs.
Bytes anaLog(const Stores &stores, const AnaStates &states, std::uint64_t change, bool groupsOnly);
Bytes makeAnaLog(std::uint64_t change, std::uint16_t toldGroups, const std::vector<AnaGroup> &groups);

// Offsets that misbehaviours write to
namespace at {
constexpr std::size_t mdts = 77, cntlid = 78, anacap = 343, anagrpmax = 344, nanagrpid = 348, sqes = 512, cqes = 513,
		      maxcmd = 514, nn = 516, sgls = 536, mnan = 540, subnqn = 768, ioccsz = 1792, iorcsz = 1796,
		      icdoff = 1800, cntrltype = 111, kas = 320, anatt = 342, serial = 4, model = 24, ciu = 135,
		      cirn = 136, cqt = 386, ccrl = 1807, oaes = 92, lpa = 261;
constexpr std::size_t nsze = 0, ncap = 8, nlbaf = 25, flbas = 26, dlfeat = 33, lbaf0 = 128, nmic = 30;
} // namespace at

} // namespace target
