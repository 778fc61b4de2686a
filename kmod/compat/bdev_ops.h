/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Open and release of a block device, in the newest form:
 *
 *	static int head_open(struct gendisk *disk, blk_mode_t mode) ...
 *	static void head_release(struct gendisk *disk) ...
 *	NOF_BDEV_OPEN(head_open)
 *	NOF_BDEV_RELEASE(head_release)
 *	... { .open = head_open_bdev, .release = head_release_bdev }
 */
#ifndef NOF_COMPAT_BDEV_OPS_H
#define NOF_COMPAT_BDEV_OPS_H

#include <linux/blkdev.h>

#if NOF_HAVE_BDEV_OPEN_DISK
#define NOF_BDEV_OPEN(fn)							\
	static int fn##_bdev(struct gendisk *disk, blk_mode_t mode)		\
	{									\
		return fn(disk, mode);						\
	}
#else
#define NOF_BDEV_OPEN(fn)							\
	static int fn##_bdev(struct block_device *bdev, fmode_t mode)		\
	{									\
		return fn(bdev->bd_disk, mode);					\
	}
#endif

#if NOF_HAVE_BDEV_RELEASE_DISK
#define NOF_BDEV_RELEASE(fn)							\
	static void fn##_bdev(struct gendisk *disk)				\
	{									\
		fn(disk);							\
	}
#else
#define NOF_BDEV_RELEASE(fn)							\
	static void fn##_bdev(struct gendisk *disk, fmode_t mode)		\
	{									\
		fn(disk);							\
	}
#endif

#endif
