// SPDX-License-Identifier: GPL-2.0-only
#include <linux/blkdev.h>
#include "core/status.h"

blk_status_t nof_status_to_blk(u16 status)
{
	return errno_to_blk_status(nof_status_errno(status));
}
