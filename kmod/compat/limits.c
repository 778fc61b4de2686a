// SPDX-License-Identifier: GPL-2.0-only
#include <linux/blk-mq.h>
#include <linux/blkdev.h>
#include <linux/blk-integrity.h>
#include <linux/log2.h>
#include <linux/t10-pi.h>
#include "compat/limits.h"

static unsigned int sectors(u64 bytes)
{
	return min_t(u64, bytes >> SECTOR_SHIFT, UINT_MAX >> SECTOR_SHIFT);
}

static unsigned int physical(const struct nof_limits *lim)
{
	return max(lim->physical_block_size, lim->logical_block_size);
}

static unsigned int io_min(const struct nof_limits *lim)
{
	return max(lim->io_min, physical(lim));
}

static unsigned int granularity(const struct nof_limits *lim)
{
	return max(lim->discard_granularity, lim->logical_block_size);
}

static unsigned short discard_segments(const struct nof_limits *lim)
{
	return max_t(u16, lim->max_discard_segments, 1);
}

#if NOF_HAVE_QUEUE_LIMITS_FEATURES

/* Without this feature the block layer ignores the limits of atomic writes */
#if NOF_HAVE_ATOMIC_WRITE_FEATURE
#define ATOMIC_WRITES	BLK_FEAT_ATOMIC_WRITES
#else
#define ATOMIC_WRITES	((__force blk_features_t)0)
#endif

static blk_features_t limits_features(const struct nof_limits *lim)
{
	blk_features_t f = 0;

	if (lim->write_cache)
		f |= BLK_FEAT_WRITE_CACHE;
	if (lim->write_cache && lim->fua)
		f |= BLK_FEAT_FUA;
	if (lim->poll)
		f |= BLK_FEAT_POLL;
	if (lim->p2p)
		f |= BLK_FEAT_PCI_P2PDMA;
	if (lim->zone_bytes)
		f |= BLK_FEAT_ZONED;
	if (lim->atomic_bytes)
		f |= ATOMIC_WRITES;
	return f;
}

#if NOF_HAVE_ATOMIC_WRITE_ABSENT
static void fill_atomics(struct queue_limits *to, const struct nof_limits *lim)
{
}
#else
static void fill_atomics(struct queue_limits *to, const struct nof_limits *lim)
{
	u32 bytes = min_not_zero(lim->atomic_bytes, lim->atomic_boundary);

	if (!lim->atomic_bytes)
		bytes = 0;
	to->atomic_write_hw_max = bytes;
	to->atomic_write_hw_boundary = bytes ? lim->atomic_boundary : 0;
	to->atomic_write_hw_unit_min = bytes ? lim->logical_block_size : 0;
	to->atomic_write_hw_unit_max = bytes ? rounddown_pow_of_two(bytes) : 0;
}
#endif

#if NOF_HAVE_ZONE_APPEND_HW
static void fill_zone_append(struct queue_limits *to, unsigned int max)
{
	to->max_hw_zone_append_sectors = max;
}
#else
static void fill_zone_append(struct queue_limits *to, unsigned int max)
{
	to->max_zone_append_sectors = max;
}
#endif

#if NOF_LIMITS_PI
static void fill_pi_bytes(struct blk_integrity *bi, u8 bytes)
{
#if NOF_HAVE_INTEGRITY_METADATA
	bi->metadata_size = bytes;
	bi->pi_tuple_size = bytes;
#else
	bi->tuple_size = bytes;
#endif
}

/* tag_size counts the bytes free for the application: the 16-bit tag, and with type 3 the reference tag */
static void fill_integrity(struct queue_limits *to, const struct nof_limits *lim)
{
	struct blk_integrity *bi = &to->integrity;
	bool wide = lim->pi_bytes == sizeof(struct crc64_pi_tuple);

	if (!lim->pi_bytes)
		return;
	bi->csum_type = wide ? BLK_INTEGRITY_CSUM_CRC64 : BLK_INTEGRITY_CSUM_CRC;
	fill_pi_bytes(bi, lim->pi_bytes);
	bi->tag_size = sizeof(__be16);
	bi->flags |= BLK_INTEGRITY_DEVICE_CAPABLE;
	if (lim->pi_type != T10_PI_TYPE3_PROTECTION)
		bi->flags |= BLK_INTEGRITY_REF_TAG;
	else
		bi->tag_size += wide ? sizeof_field(struct crc64_pi_tuple, ref_tag) : sizeof(__be32);
	to->max_integrity_segments = USHRT_MAX;
}
#else
static void fill_integrity(struct queue_limits *to, const struct nof_limits *lim)
{
}
#endif

static void fill(struct queue_limits *to, const struct nof_limits *lim)
{
	const blk_features_t ours = BLK_FEAT_WRITE_CACHE | BLK_FEAT_FUA | BLK_FEAT_STABLE_WRITES | BLK_FEAT_POLL |
				    BLK_FEAT_PCI_P2PDMA | BLK_FEAT_ZONED | ATOMIC_WRITES;

	to->features = (to->features & ~ours) | limits_features(lim);
	to->logical_block_size = lim->logical_block_size;
	to->physical_block_size = physical(lim);
	to->io_min = io_min(lim);
	to->io_opt = lim->io_opt;
	to->max_hw_sectors = sectors(lim->max_bytes);
	to->max_segments = lim->max_segments;
	to->max_segment_size = UINT_MAX;
	to->virt_boundary_mask = lim->virt_boundary;
	to->dma_alignment = lim->dma_alignment;
	to->max_hw_discard_sectors = sectors(lim->max_discard_bytes);
	to->max_discard_segments = discard_segments(lim);
	to->discard_granularity = lim->max_discard_bytes ? granularity(lim) : 0;
	to->max_write_zeroes_sectors = sectors(lim->max_write_zeroes_bytes);
	fill_atomics(to, lim);
	fill_integrity(to, lim);
	if (!lim->zone_bytes)
		return;
	to->chunk_sectors = lim->zone_bytes >> SECTOR_SHIFT;
	to->max_open_zones = lim->max_open_zones;
	to->max_active_zones = lim->max_active_zones;
	/* 0: the block layer emulates zone append by writes */
	fill_zone_append(to, lim->native_append ? sectors(lim->max_append_bytes) : 0);
}

struct gendisk *nof_limits_alloc_disk(struct blk_mq_tag_set *set, const struct nof_limits *lim, void *queuedata)
{
	struct queue_limits limits = { };

	fill(&limits, lim);
	return blk_mq_alloc_disk(set, &limits, queuedata);
}

int nof_limits_update(struct gendisk *disk, const struct nof_limits *lim)
{
	struct queue_limits limits = queue_limits_start_update(disk->queue);

	fill(&limits, lim);
	return queue_limits_commit_update(disk->queue, &limits);
}

int nof_limits_read_zones(struct gendisk *disk)
{
#ifdef CONFIG_BLK_DEV_ZONED
	return blk_revalidate_disk_zones(disk);
#else
	return -EOPNOTSUPP;
#endif
}

struct request_queue *nof_limits_alloc_queue(struct blk_mq_tag_set *set)
{
	return blk_mq_alloc_queue(set, NULL, NULL);
}

#else

/* Checks that newer kernels do themselves when limits are committed */
static bool valid(const struct nof_limits *lim)
{
	return is_power_of_2(lim->logical_block_size) && lim->logical_block_size >= SECTOR_SIZE &&
	       lim->logical_block_size <= PAGE_SIZE && is_power_of_2(physical(lim)) &&
	       lim->max_bytes >= PAGE_SIZE && lim->max_segments;
}

static void set_flag(struct request_queue *q, unsigned int flag, bool on)
{
	if (on)
		blk_queue_flag_set(flag, q);
	else
		blk_queue_flag_clear(flag, q);
}

static void set_discard(struct request_queue *q, const struct nof_limits *lim)
{
	q->limits.discard_granularity = lim->max_discard_bytes ? granularity(lim) : 0;
	blk_queue_max_discard_sectors(q, sectors(lim->max_discard_bytes));
	blk_queue_max_discard_segments(q, discard_segments(lim));
	blk_queue_max_write_zeroes_sectors(q, sectors(lim->max_write_zeroes_bytes));
}

#if NOF_HAVE_DISK_ZONED_MODEL
static void set_zoned(struct gendisk *disk)
{
	disk_set_zoned(disk, BLK_ZONED_HM);
}
#else
static void set_zoned(struct gendisk *disk)
{
	disk_set_zoned(disk);
}
#endif

/*
 * On these kernels only an elevator keeps the writes of a zone in order, one at a time. Zone append is always native:
 * the block layer does not emulate it.
 */
static void set_zones(struct gendisk *disk, const struct nof_limits *lim)
{
#ifdef CONFIG_BLK_DEV_ZONED
	struct request_queue *q = disk->queue;

	set_zoned(disk);
	blk_queue_chunk_sectors(q, lim->zone_bytes >> SECTOR_SHIFT);
	disk_set_max_open_zones(disk, lim->max_open_zones);
	disk_set_max_active_zones(disk, lim->max_active_zones);
	blk_queue_max_zone_append_sectors(q, sectors(lim->max_append_bytes));
	blk_queue_flag_set(QUEUE_FLAG_ZONE_RESETALL, q);
	blk_queue_required_elevator_features(q, ELEVATOR_F_ZBD_SEQ_WRITE);
#endif
}

static void limits_set_limits(struct gendisk *disk, const struct nof_limits *lim)
{
	struct request_queue *q = disk->queue;

	blk_queue_logical_block_size(q, lim->logical_block_size);
	blk_queue_physical_block_size(q, physical(lim));
	blk_queue_io_min(q, io_min(lim));
	blk_queue_io_opt(q, lim->io_opt);
	blk_queue_max_hw_sectors(q, sectors(lim->max_bytes));
	blk_queue_max_segments(q, lim->max_segments);
	blk_queue_virt_boundary(q, lim->virt_boundary);
	/* implied by a virt boundary, and must not be set with one */
	if (!lim->virt_boundary)
		blk_queue_max_segment_size(q, UINT_MAX);
	blk_queue_dma_alignment(q, lim->dma_alignment);
	set_discard(q, lim);
	blk_queue_write_cache(q, lim->write_cache, lim->fua);
	set_flag(q, QUEUE_FLAG_POLL, lim->poll);
	set_flag(q, QUEUE_FLAG_NONROT, true);
	set_flag(q, QUEUE_FLAG_ADD_RANDOM, false);
	if (lim->zone_bytes)
		set_zones(disk, lim);
}

struct gendisk *nof_limits_alloc_disk(struct blk_mq_tag_set *set, const struct nof_limits *lim, void *queuedata)
{
	struct gendisk *disk;

	if (!valid(lim))
		return ERR_PTR(-EINVAL);
	disk = blk_mq_alloc_disk(set, queuedata);
	if (!IS_ERR(disk))
		limits_set_limits(disk, lim);
	return disk;
}

int nof_limits_update(struct gendisk *disk, const struct nof_limits *lim)
{
	if (!valid(lim))
		return -EINVAL;
	limits_set_limits(disk, lim);
	return 0;
}

int nof_limits_read_zones(struct gendisk *disk)
{
#ifdef CONFIG_BLK_DEV_ZONED
	return blk_revalidate_disk_zones(disk, NULL);
#else
	return -EOPNOTSUPP;
#endif
}

struct request_queue *nof_limits_alloc_queue(struct blk_mq_tag_set *set)
{
	return blk_mq_init_queue(set);
}

#endif
