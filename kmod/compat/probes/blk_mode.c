// SPDX-License-Identifier: GPL-2.0-only
/* mode in which a block device was opened */
#include <linux/blkdev.h>

#ifdef SPELLING_TYPE
blk_mode_t probe(void);
blk_mode_t probe(void)
{
	return BLK_OPEN_READ | BLK_OPEN_WRITE | BLK_OPEN_EXCL | BLK_OPEN_NDELAY;
}
#endif

#ifdef SPELLING_FMODE
fmode_t probe(void);
fmode_t probe(void)
{
	return FMODE_READ | FMODE_WRITE | FMODE_EXCL | FMODE_NDELAY;
}
#endif
