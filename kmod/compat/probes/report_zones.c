// SPDX-License-Identifier: GPL-2.0-only
/* report_zones() of a disk */
#include <linux/blkdev.h>

#ifdef SPELLING_ARGS	/* passes each zone to disk_report_zone() */
static int report(struct gendisk *disk, sector_t sector, unsigned int nr, struct blk_report_zones_args *args)
{
	struct blk_zone zone = { .start = sector };

	return disk_report_zone(disk, &zone, 0, args);
}

extern const struct block_device_operations probe;
const struct block_device_operations probe = { .report_zones = report };
#endif

#ifdef SPELLING_CALLBACK
static int report(struct gendisk *disk, sector_t sector, unsigned int nr, report_zones_cb cb, void *data)
{
	struct blk_zone zone = { .start = sector };

	return cb(&zone, 0, data);
}

extern const struct block_device_operations probe;
const struct block_device_operations probe = { .report_zones = report };
#endif
