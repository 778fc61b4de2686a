/* SPDX-License-Identifier: LGPL-2.1-or-later */
struct gendisk;

struct blk_zone {
	u64 start;
};

#ifdef STUB_ARGS
struct blk_report_zones_args;

int disk_report_zone(struct gendisk *disk, struct blk_zone *zone, unsigned int idx, struct blk_report_zones_args *args);

struct block_device_operations {
	int (*report_zones)(struct gendisk *disk, sector_t sector, unsigned int nr, struct blk_report_zones_args *args);
};
#endif

#ifdef STUB_CALLBACK
typedef int (*report_zones_cb)(struct blk_zone *zone, unsigned int idx, void *data);

struct block_device_operations {
	int (*report_zones)(struct gendisk *disk, sector_t sector, unsigned int nr, report_zones_cb cb, void *data);
};
#endif
