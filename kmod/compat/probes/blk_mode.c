// SPDX-License-Identifier: GPL-2.0-only
/* blk_mode_t and its bits */
#include <linux/blkdev.h>

blk_mode_t probe(void);
blk_mode_t probe(void)
{
	return BLK_OPEN_READ | BLK_OPEN_WRITE;
}
