// SPDX-License-Identifier: LGPL-2.1-or-later
// Identify data structures and log pages of the target.
#pragma once

#include "config.h"
#include "store.h"
#include "wire.h"

namespace target {

struct Association;

// Offset of the CSI in the list of identification descriptors, after NGUID and UUID
constexpr std::size_t csi_at = 44;
constexpr std::uint8_t csi_zns = 2;

Bytes identifyController(const Config &config, const Association &assoc);
// NVM command set specific controller data
Bytes identifyNvm(const Config &config);
Bytes identifyNamespace(const Config &config, const Store &store);
Bytes descriptors(const Store &store);
// I/O command set independent
Bytes identifyIndependent(const Config &config, const Store &store);
// Zoned Namespace command set
Bytes identifyGuard(const Store &store); // Identify Namespace of the NVM command set, CNS 05h
Bytes identifyZoned(const Store &store);

// By ANA group; a group that is missing is optimized.
using AnaStates = std::map<std::uint32_t, AnaState>;
// Contains every group that has namespaces or an explicit state. groupsOnly: RGO, no NSIDs.
Bytes anaLog(const Stores &stores, const AnaStates &states, std::uint64_t change, bool groupsOnly);

} // namespace target
