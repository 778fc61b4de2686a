// SPDX-License-Identifier: GPL-2.0-only
/* block_device_operations.open takes the disk */
#include <linux/blkdev.h>

int probe(const struct block_device_operations *ops, struct gendisk *disk);
int probe(const struct block_device_operations *ops, struct gendisk *disk)
{
	return ops->open(disk, 0);
}
