/* SPDX-License-Identifier: GPL-2.0-only */
/* The limits of a request queue, in a type of our own: the kernel's struct and its setters have changed shape twice. */
#ifndef NOF_COMPAT_LIMITS_H
#define NOF_COMPAT_LIMITS_H

#include <linux/types.h>

/* Protection information that the block layer makes and checks: since 6.11 it is one of the limits */
#define NOF_LIMITS_PI	(NOF_HAVE_QUEUE_LIMITS_FEATURES && IS_ENABLED(CONFIG_BLK_DEV_INTEGRITY))

struct blk_mq_tag_set;
struct gendisk;
struct request_queue;

/**
 * struct nof_limits - what a disk can do
 * @logical_block_size:	bytes
 * @physical_block_size: bytes, 0 = as logical
 * @io_min:		bytes, 0 = as physical
 * @io_opt:		bytes, 0 = none told
 * @max_bytes:		largest data of one request; U32_MAX = no bound
 * @max_segments:	most segments of one request
 * @virt_boundary:	mask: gaps between segments only at its multiples, 0 = anywhere
 * @dma_alignment:	mask on addresses and lengths of data from userspace, such as 3
 * @max_discard_bytes:	0 = no discard
 * @max_discard_segments: ranges in one discard request, 0 = one
 * @discard_granularity: bytes, 0 = as logical
 * @discard_alignment:	bytes
 * @max_write_zeroes_bytes: 0 = no offload
 * @write_cache:	volatile write cache: flushes are sent
 * @fua:		writes may carry Force Unit Access
 * @poll:		the tag set has polled queues
 * @zone_bytes:	size of a zone, 0 = not zoned
 * @max_open_zones, @max_active_zones: 0 = no limit
 * @max_append_bytes:	of a zone append that is sent as such
 * @native_append:	they are; else they become writes, where the kernel can do that
 * @atomic_bytes:	of a write that is done whole or not at all; 0 = none. Where the kernel has such
 * @atomic_boundary:	bytes, a power of two: none may cross its multiples; 0 = anywhere
 * @pi_bytes:		of protection information that the host makes and checks, of type @pi_type: 8 with a 16-bit
 *			guard, 16 with one of 64 bits, 0 = none; where NOF_LIMITS_PI
 * @p2p:		data may be in PCI peer-to-peer memory; where the kernel has that for applications
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
	u32		discard_alignment;
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

/* Context: process, sleeps. Returns a disk (not added yet) or ERR_PTR. */
struct gendisk *nof_limits_alloc_disk(struct blk_mq_tag_set *set, const struct nof_limits *lim, void *queuedata);
/* Other limits for a disk whose queue is frozen. Context: process, sleeps. 0, or negative errno and nothing changed. */
int nof_limits_update(struct gendisk *disk, const struct nof_limits *lim);
/*
 * The block layer reads the zones of a disk, by its report_zones(), and makes what it needs to keep writes in order.
 * Before anybody writes. Context: process, sleeps. 0 or negative errno.
 */
int nof_limits_read_zones(struct gendisk *disk);
/* A queue without a disk. Context: process, sleeps. ERR_PTR on failure. */
struct request_queue *nof_limits_alloc_queue(struct blk_mq_tag_set *set);

#endif
