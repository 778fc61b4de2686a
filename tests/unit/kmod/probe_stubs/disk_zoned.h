/* SPDX-License-Identifier: LGPL-2.1-or-later */
struct gendisk;

#ifdef STUB_FEATURE
struct queue_limits {
	unsigned int features;
};

#define BLK_FEAT_ZONED (1U << 10)
#endif

#ifdef STUB_PLAIN
struct queue_limits {
	int zoned;
};

void disk_set_zoned(struct gendisk *disk);
#endif

#ifdef STUB_MODEL
struct queue_limits {
	int zoned;
};

enum blk_zoned_model { BLK_ZONED_HM = 2 };

void disk_set_zoned(struct gendisk *disk, enum blk_zoned_model model);
#endif
