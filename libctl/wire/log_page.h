// SPDX-License-Identifier: LGPL-2.1-or-later
// Log pages of I/O controllers. The discovery log page is in discovery_log.h.
#pragma once

#include "bytes.h"

namespace nofctl::wire {

enum AnaState : std::uint8_t {
	ana_optimized = 1,
	ana_non_optimized = 2,
	ana_inaccessible = 3,
	ana_persistent_loss = 4,
	ana_change = 15,
};

// An ANA Group Descriptor; NVMe Base 2.0, 5.16.1.13. toldNsids is written as the number of NSIDs; tests may set it to a
// wrong value.
struct AnaGroup {
	std::uint32_t id;
	std::uint8_t state;
	std::vector<std::uint32_t> nsids;
	std::uint32_t toldNsids;
};

// @toldGroups: number of groups in the header, possibly wrong. @change: change count of the log and of each group.
Bytes makeAnaLog(std::uint64_t change, std::uint16_t toldGroups, const std::vector<AnaGroup> &groups);

struct AnaLog {
	std::uint64_t change;
	std::vector<AnaGroup> groups; // toldNsids is the actual number
};

// Nothing if lengths are inconsistent, or a group ID or state is invalid. Bytes after the log are ignored.
std::optional<AnaLog> parseAnaLog(std::span<const std::uint8_t> log);

// An entry of the Cross-Controller Reset log page; Base 2.3, figure 305
enum CcrStatus : std::uint8_t { ccr_in_progress = 0, ccr_success = 1, ccr_failed = 2 };
enum CcrFlag : std::uint8_t { ccr_validated = 1, ccr_initiated = 2 };

struct CcrRecord {
	std::uint16_t icid; // impacted controller ID
	std::uint8_t ciu;   // CIU of the impacted controller
	std::uint16_t acid; // controller that received the command
	CcrStatus status;
	std::uint8_t flags; // CcrFlag
};

Bytes makeCcrLog(std::span<const CcrRecord> entries);

// An entry of the Error Information log page; Base 2.0, 5.16.1.2
struct ErrorEntry {
	Le64 errorCount;
	Le16 sqid;
	Le16 cmdid;
	Le16 statusField;  // shifted left by 1; bit 0 is the phase tag
	Le16 parmLocation; // parm_location_none: not specific to a parameter
	Le64 lba;
	Le32 nsid;
	std::uint8_t vendorPage;
	std::uint8_t trtype;
	std::uint8_t reserved[2];
	Le64 commandSpecific;
	Le16 trtypeSpecific;
	std::uint8_t reserved2[22];
};
static_assert(sizeof(ErrorEntry) == 64);

constexpr std::uint16_t parm_location_none = 0xffff;

// SMART / Health Information log page; Base 2.0, 5.16.1.3
Bytes smartLog(std::uint16_t kelvin, std::uint8_t sparePercent);

} // namespace nofctl::wire
