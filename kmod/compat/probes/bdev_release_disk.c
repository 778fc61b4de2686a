// SPDX-License-Identifier: GPL-2.0-only
/* block_device_operations.release takes nothing but the disk */
#include <linux/blkdev.h>

void probe(const struct block_device_operations *ops, struct gendisk *disk);
void probe(const struct block_device_operations *ops, struct gendisk *disk)
{
	ops->release(disk);
}
