/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The limits of a request queue, in a separate type: the kernel's struct and its setters have changed shape twice.
 * blk_stack_limits() does not combine the limits of paths: it takes the smaller nonzero discard size, but one path
 * without discard means none for the disk.
 */
#ifndef NOF_COMPAT_LIMITS_H
#define NOF_COMPAT_LIMITS_H

#include <linux/types.h>

/* Whether the block layer generates and verifies protection information: since 6.11 this is one of the limits */
#define NOF_LIMITS_PI	(NOF_HAVE_QUEUE_LIMITS_FEATURES && !NOF_HAVE_INTEGRITY_PROFILE && \
			 IS_ENABLED(CONFIG_BLK_DEV_INTEGRITY))

struct blk_mq_tag_set;
struct gendisk;
struct request_queue;

/**
 * struct nof_limits - what a disk can do
 * @logical_block_size:	bytes
 * @physical_block_size: bytes, 0 = as logical
 * @io_min:		bytes, 0 = as physical
 * @io_opt:		bytes, 0 = not reported
 * @max_bytes:		maximum data of one request; U32_MAX = no bound
 * @max_segments:	maximum segments of one request
 * @virt_boundary:	mask: gaps between segments only at multiples of mask + 1, 0 = anywhere
 * @dma_alignment:	mask on addresses and lengths of data from userspace, such as 3
 * @max_discard_bytes:	0 = no discard
 * @max_discard_segments: ranges in one discard request, 0 = one
 * @discard_granularity: bytes, 0 = as logical
 * @max_write_zeroes_bytes: 0 = no offload
 * @write_cache:	volatile write cache: flushes are sent
 * @fua:		writes may carry Force Unit Access
 * @poll:		the tag set has polled queues
 * @zone_bytes:	size of a zone, 0 = not zoned
 * @max_open_zones, @max_active_zones: 0 = no limit
 * @max_append_bytes:	maximum of a native zone append
 * @native_append:	zone append is native; else the kernel emulates it by writes, if it can
 * @atomic_bytes:	maximum of an atomic write; 0 = none. Unused if the kernel has no atomic writes
 * @atomic_boundary:	bytes, a power of two: no atomic write may cross its multiples; 0 = anywhere
 * @pi_bytes:		protection information per block, of type @pi_type, that the host generates and verifies: 8 with
 *			a 16-bit guard, 16 with a 64-bit guard, 0 = none; only if NOF_LIMITS_PI
 * @p2p:		data may be in PCI peer-to-peer memory; unused if the kernel has no such limit
 */
struct nof_limits {
	u32		logical_block_size;
	u32		physical_block_size;
	u32		io_min;
	u32		io_opt;
	u32		max_bytes;
	u16		max_segments;
	unsigned long	virt_boundary;
	u32		dma_alignment;
	u64		max_discard_bytes;
	u16		max_discard_segments;
	u32		discard_granularity;
	u64		max_write_zeroes_bytes;
	bool		write_cache;
	bool		fua;
	bool		poll;
	bool		p2p;
	u8		pi_type;
	u8		pi_bytes;
	u32		atomic_bytes;
	u32		atomic_boundary;
	u64		zone_bytes;
	u32		max_open_zones;
	u32		max_active_zones;
	u32		max_append_bytes;
	bool		native_append;
};

/* Context: process, may sleep. Returns a disk (not added yet) or ERR_PTR. */
struct gendisk *nof_limits_alloc_disk(struct blk_mq_tag_set *set, const struct nof_limits *lim, void *queuedata);
/*
 * Sets the limits of a disk whose queue is frozen. Context: process, may sleep. Returns 0, or a negative errno and
 * nothing has changed.
 */
int nof_limits_update(struct gendisk *disk, const struct nof_limits *lim);
/*
 * Has the block layer read the zones of a disk by its report_zones(), and set itself up to keep writes in order. Must
 * be called before the first write. Context: process, may sleep. Returns 0 or a negative errno.
 */
int nof_limits_read_zones(struct gendisk *disk);
/* Allocates a queue without a disk. Context: process, may sleep. ERR_PTR on failure. */
struct request_queue *nof_limits_alloc_queue(struct blk_mq_tag_set *set);

#endif
