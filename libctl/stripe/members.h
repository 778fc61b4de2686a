// SPDX-License-Identifier: LGPL-2.1-or-later
// What the machine itself says of disks that are to be members.
#pragma once

#include "plan.h"

namespace nofctl::stripe {

// Optimal I/O size and zones, from sysfs.
void putQueue(Member &member);
// An error where somebody has it open, or, unless @force, where there are data on it: a file system, partitions.
nvmeof::Result<void> checkFree(const Member &member, bool force);

} // namespace nofctl::stripe
