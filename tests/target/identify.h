// SPDX-License-Identifier: LGPL-2.1-or-later
// What the target has to tell in Identify data structures and log pages.
#pragma once

#include "config.h"
#include "store.h"
#include "wire.h"

namespace target {

struct Association;

// Of the command set identifier in a list of descriptors, behind NGUID and UUID
constexpr std::size_t csi_at = 44;
constexpr std::uint8_t csi_zns = 2;

Bytes identifyController(const Config &config, const Association &assoc);
// Of the NVM command set
Bytes identifyNvm(const Config &config);
Bytes identifyNamespace(const Config &config, const Store &store);
Bytes descriptors(const Store &store);
// Whatever the command set
Bytes identifyIndependent(const Config &config, const Store &store);
// Of the zoned command set
Bytes identifyGuard(const Store &store); // by Identify Namespace of the NVM command set
Bytes identifyZoned(const Store &store);

// By group; those not in it are optimized.
using AnaStates = std::map<std::uint32_t, AnaState>;
// Every group that has namespaces or a state of its own. groupsOnly: RGO, no NSIDs.
Bytes anaLog(const Stores &stores, const AnaStates &states, std::uint64_t change, bool groupsOnly);

} // namespace target
