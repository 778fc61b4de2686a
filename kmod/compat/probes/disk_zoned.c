// SPDX-License-Identifier: GPL-2.0-only
/* making a disk a zoned one */
#include <linux/blkdev.h>

#ifdef SPELLING_FEATURE	/* a feature among the limits */
void probe(struct queue_limits *lim);
void probe(struct queue_limits *lim)
{
	lim->features |= BLK_FEAT_ZONED;
}
#endif

#ifdef SPELLING_PLAIN
void probe(struct gendisk *disk);
void probe(struct gendisk *disk)
{
	disk_set_zoned(disk);
}
#endif

#ifdef SPELLING_MODEL
void probe(struct gendisk *disk);
void probe(struct gendisk *disk)
{
	disk_set_zoned(disk, BLK_ZONED_HM);
}
#endif
