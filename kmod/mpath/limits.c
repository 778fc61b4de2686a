// SPDX-License-Identifier: GPL-2.0-only
/* What a disk promises: as much as all its paths can do, and less from when one joins that can do less. */
#include <linux/blk-mq.h>
#include "compat/limits.h"
#include "core/ctrl.h"
#include "core/subsys.h"
#include "mpath/fence.h"
#include "mpath/head.h"
#include "mpath/path.h"

/*
 * How long a path waits for the disk to come to rest, so that its limits can be changed. Nothing new is sent meanwhile:
 * in vain it may be so for a fifth of the time, however many paths and scans want to try.
 */
#define NARROW_TMO_MS	2000
#define NARROW_REST	4

/* The wire counts blocks in 16 bits, zero based */
static u32 max_bytes(const struct nof_ctrl *ctrl, const struct nof_transport_limits *tl, u8 lba_shift)
{
	u64 max = min_t(u64, ctrl->max_transfer, 65536ULL << lba_shift);

	if (tl->max_data)
		max = min_t(u64, max, tl->max_data);
	return min_t(u64, max, U32_MAX & ~((1U << lba_shift) - 1));
}

/* One range, which counts blocks in 32 bits; a request counts bytes in 32 bits */
static u32 discard_bytes(const struct nof_ctrl *ctrl, u8 lba_shift)
{
	u64 blocks = min_t(u64, ctrl->nvm.range_blocks, ctrl->nvm.discard_blocks);

	return min_t(u64, blocks, U32_MAX >> lba_shift) << lba_shift;
}

/* MDTS does not bound it, WZSL does, and the block count; targets are spared the longest. 0: less than a block */
static u32 write_zeroes_bytes(const struct nof_ctrl *ctrl, u8 lba_shift)
{
	u64 max = min_t(u64, 65536ULL << lba_shift, SZ_32M);

	return min_t(u64, max, ctrl->nvm.write_zeroes) & ~((1U << lba_shift) - 1);
}

void nof_head_fill_limits(const struct nof_ctrl *ctrl, const struct nof_ns_format *f, struct nof_limits *lim)
{
	const struct nof_transport_limits *tl = &ctrl->limits;
	u32 lba = 1U << f->lba_shift;

	memset(lim, 0, sizeof(*lim));
	lim->logical_block_size = lba;
	lim->physical_block_size = max(f->phys_blocks, 1U) * lba;
	lim->io_opt = f->opt_io_blocks * lba;
	lim->max_bytes = max_bytes(ctrl, tl, f->lba_shift);
	lim->max_segments = min_t(u32, tl->max_segments ?: USHRT_MAX, USHRT_MAX);
	lim->virt_boundary = tl->virt_boundary;
	lim->dma_alignment = 3;
	if (ctrl->oncs & NVME_CTRL_ONCS_DSM) {
		lim->max_discard_bytes = discard_bytes(ctrl, f->lba_shift);
		lim->max_discard_segments = 1;
		lim->discard_granularity = f->discard_granularity * lba ?: lba;
		lim->discard_alignment = f->discard_alignment * lba;
	}
	if (ctrl->oncs & NVME_CTRL_ONCS_WRITE_ZEROES)
		lim->max_write_zeroes_bytes = write_zeroes_bytes(ctrl, f->lba_shift);
	lim->write_cache = ctrl->vwc & NVME_CTRL_VWC_PRESENT;
	lim->fua = lim->write_cache;
	lim->poll = ctrl->subsys->nr_poll;
}

/* What both can do */
static struct nof_limits common(const struct nof_limits *has, const struct nof_limits *other)
{
	struct nof_limits lim = *has;

	lim.max_bytes = min(has->max_bytes, other->max_bytes);
	lim.max_segments = min(has->max_segments, other->max_segments);
	lim.virt_boundary |= other->virt_boundary;
	lim.max_discard_bytes = min(has->max_discard_bytes, other->max_discard_bytes);
	lim.max_write_zeroes_bytes = min(has->max_write_zeroes_bytes, other->max_write_zeroes_bytes);
	lim.write_cache |= other->write_cache;
	lim.fua |= other->fua;
	return lim;
}

/* In what common() may change. By members: a structure's padding is whatever it is. */
static bool differ(const struct nof_limits *a, const struct nof_limits *b)
{
	return a->max_bytes != b->max_bytes || a->max_segments != b->max_segments ||
	       a->virt_boundary != b->virt_boundary || a->max_discard_bytes != b->max_discard_bytes ||
	       a->max_write_zeroes_bytes != b->max_write_zeroes_bytes || a->write_cache != b->write_cache ||
	       a->fua != b->fua;
}

bool nof_head_too_wide(const struct nof_head *head, const struct nof_ctrl *ctrl, const struct nof_ns_format *format)
{
	struct nof_limits other, lim;

	nof_head_fill_limits(ctrl, format, &other);
	lim = common(&head->limits, &other);
	return differ(&lim, &head->limits);
}

enum nof_unfit nof_path_unfit(const struct nof_path *path)
{
	bool caches = path->ctrl->vwc & NVME_CTRL_VWC_PRESENT;

	lockdep_assert_held(&path->head->subsys->lock);
	return caches && !path->head->limits.write_cache ? NOF_UNFIT_CACHE : NOF_UNFIT_LESS;
}

bool nof_path_can(const struct nof_path *path, const struct request *rq)
{
	struct nof_limits lim;

	nof_head_fill_limits(path->ctrl, &path->head->format, &lim);
	switch (req_op(rq)) {
	case REQ_OP_DISCARD:
		return blk_rq_bytes(rq) <= lim.max_discard_bytes;
	case REQ_OP_WRITE_ZEROES:
		return blk_rq_bytes(rq) <= lim.max_write_zeroes_bytes;
	default:
		return blk_rq_bytes(rq) <= lim.max_bytes;
	}
}

const char nof_head_busy[] = "the disk has to promise less, but requests under way do not end; tried again later";

/* Some requests end only with a path, which may be the one that asks */
static bool stuck(struct nof_head *head)
{
	return atomic_read(&head->waiting) || nof_fence_held(head);
}

/* Requests under way rely on the limits (TRAP 27) */
static bool freeze(struct nof_head *head, const struct nof_ctrl *ctrl)
{
	unsigned long begin = jiffies, end = begin + msecs_to_jiffies(NARROW_TMO_MS);
	struct request_queue *q = head->disk->queue;

	lockdep_assert_held(&head->narrow_lock);
	if (time_before(begin, head->next_narrow))
		return false;
	blk_freeze_queue_start(q);
	while (!blk_mq_freeze_queue_wait_timeout(q, msecs_to_jiffies(50))) {
		bool live = nof_ctrl_state(ctrl) == NVMEOF_CTRL_LIVE;

		if (time_before(jiffies, end) && live && !stuck(head))
			continue;
		blk_mq_unfreeze_queue(q);
		/* who is gone has not seen what another path may see */
		if (live)
			head->next_narrow = jiffies + NARROW_REST * (jiffies - begin);
		return false;
	}
	return true;
}

const char *nof_head_narrow(struct nof_head *head, const struct nof_ctrl *ctrl, const struct nof_ns_format *format)
{
	struct nof_subsys *s = head->subsys;
	const char *why = nof_head_busy;
	struct nof_limits lim;

	mutex_lock(&head->narrow_lock);
	if (!freeze(head, ctrl))
		goto unlock;
	nof_head_fill_limits(ctrl, format, &lim);
	lim = common(&head->limits, &lim);
	why = nof_limits_update(head->disk, &lim) ? "the block layer refuses the limits that all paths can keep" : NULL;
	if (!why) {
		mutex_lock(&s->lock);
		head->limits = lim;
		mutex_unlock(&s->lock);
	}
	blk_mq_unfreeze_queue(head->disk->queue);
unlock:
	mutex_unlock(&head->narrow_lock);
	return why;
}
