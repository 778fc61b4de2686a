// SPDX-License-Identifier: LGPL-2.1-or-later
// Checks of disks that are to become members of a stripe.
#pragma once

#include "plan.h"

namespace nofctl::stripe {

// Fills in optimal I/O size and zoned, from sysfs.
void readQueueLimits(Member &member);
// Fails if the disk is open or, unless @force is set, has data: a file system or partitions.
nvmeof::Result<void> checkFree(const Member &member, bool force);

} // namespace nofctl::stripe
