// SPDX-License-Identifier: GPL-2.0-only
/*
 * Limits of a disk: what all its paths can do. They are lowered when a path joins that can do less, and raised when it
 * has left.
 */
#include <linux/blk-mq.h>
#include <linux/log2.h>
#include <linux/moduleparam.h>
#include "compat/limits.h"
#include "core/ctrl.h"
#include "core/subsys.h"
#include "core/upcalls.h"
#include "core/work.h"
#include "mpath/discard_ranges.h"
#include "mpath/fence.h"
#include "mpath/head.h"
#include "mpath/path.h"
#include "wire/identify.h"

/*
 * How long a path waits for the queue to freeze, so that the limits can be lowered. No request is sent meanwhile. After
 * a failed attempt none is made for NARROW_BACKOFF times as long, so at most a fifth of the time is lost, however many
 * paths and scans try.
 */
#define NARROW_TMO_MS	2000
#define NARROW_BACKOFF	4
/* Raising limits is not urgent: tried when paths have settled, and only while I/O completes quickly */
#define WIDEN_DELAY	(HZ / 2)
#define WIDEN_TMO_MS	100
#define WIDEN_BACKOFF	(10 * HZ)

/*
 * A zone append that was in flight when its connection was lost cannot be retried, because it is unknown where it was
 * written, if at all. A write, in the order of its zone, can.
 */
static bool native_append;
module_param(native_append, bool, 0644);
MODULE_PARM_DESC(native_append,
		 "send zone append to the target as is, for disks created from now on (default N: send as writes)");

/*
 * The block layer allocates protection information of a request as one buffer, which has to be small enough that the
 * allocation succeeds at any time.
 */
#define PI_MOST		(PAGE_SIZE << PAGE_ALLOC_COSTLY_ORDER)

static bool integrity = true;
module_param(integrity, bool, 0644);
MODULE_PARM_DESC(integrity,
		 "generate and check protection information on the host, for disks created from now on (default Y)");

/* Bytes of data in one command, beside which @pi_bytes are transferred with each block. NLB has 16 bits. */
static u32 max_bytes(const struct nof_ctrl *ctrl, const struct nof_ns_format *f, u32 pi_bytes)
{
	u32 max = min(ctrl->ident.max_transfer, ctrl->limits.max_data ?: U32_MAX);
	u32 blocks = min(max / ((1U << f->lba_shift) + pi_bytes), 65536U);

	if (pi_bytes)
		blocks = min_t(u32, blocks, PI_MOST / pi_bytes);
	return blocks << f->lba_shift;
}

bool nof_carries_pi(const struct nof_ctrl *ctrl, const struct nof_ns_format *f)
{
	if (!NOF_LIMITS_PI || !f->pi_in_data || !READ_ONCE(ctrl->limits.pi))
		return false;
	/* the block layer requires at least a page */
	return max_bytes(ctrl, f, f->pi_bytes) >= PAGE_SIZE;
}

/* Limited to one range, which counts blocks in 32 bits; a request counts bytes in 32 bits */
static u32 discard_bytes(const struct nof_ctrl *ctrl, u8 lba_shift)
{
	u64 blocks = min_t(u64, ctrl->nvm.range_blocks, ctrl->nvm.discard_blocks);

	return min_t(u64, blocks, U32_MAX >> lba_shift) << lba_shift;
}

/* Bounded by WZSL and the block count, not by MDTS; 32 MiB at most, to spare the target. 0: less than a block */
static u32 write_zeroes_bytes(const struct nof_ctrl *ctrl, u8 lba_shift)
{
	u64 max = min_t(u64, 65536ULL << lba_shift, SZ_32M);

	return min_t(u64, max, ctrl->nvm.write_zeroes) & ~((1U << lba_shift) - 1);
}

/* A namespace that reports nothing has the limit of its controller. Any controller writes one block atomically. */
static void fill_atomics(const struct nof_ctrl *ctrl, const struct nof_ns_format *f, struct nof_limits *lim)
{
	u32 blocks = f->atomic_blocks ?: ctrl->ident.awupf + 1U;

	if (f->atomic_never || f->zone_blocks || blocks < 2)
		return;
	lim->atomic_bytes = min_t(u64, (u64)blocks << f->lba_shift, lim->max_bytes);
	lim->atomic_boundary = f->atomic_boundary << f->lba_shift;
}

/* Only zone management commands free or zero blocks of a zoned disk */
static void fill_zones(const struct nof_ctrl *ctrl, const struct nof_ns_format *f, struct nof_limits *lim)
{
	u32 append = min(READ_ONCE(ctrl->max_append) ?: U32_MAX, lim->max_bytes);

	lim->zone_bytes = f->zone_blocks << f->lba_shift;
	lim->max_open_zones = f->max_open;
	lim->max_active_zones = f->max_active;
	lim->max_append_bytes = append & ~((1U << f->lba_shift) - 1);
	lim->native_append = native_append;
	lim->max_discard_bytes = 0;
	lim->max_write_zeroes_bytes = 0;
}

void nof_head_fill_limits(const struct nof_ctrl *ctrl, const struct nof_ns_format *f, const struct nof_head *head,
			  struct nof_limits *lim)
{
	bool pi = head ? head->limits.pi_bytes : READ_ONCE(integrity);
	const struct nof_transport_limits *tl = &ctrl->limits;
	u32 lba = 1U << f->lba_shift;

	memset(lim, 0, sizeof(*lim));
	if (pi && nof_carries_pi(ctrl, f)) {
		lim->pi_type = f->pi_type;
		lim->pi_bytes = f->pi_bytes;
	}
	lim->logical_block_size = lba;
	lim->physical_block_size = max(f->phys_blocks, 1U) * lba;
	lim->io_opt = f->opt_io_blocks * lba;
	lim->max_bytes = max_bytes(ctrl, f, lim->pi_bytes);
	lim->max_segments = min_t(u32, tl->max_segments ?: USHRT_MAX, USHRT_MAX);
	lim->virt_boundary = tl->virt_boundary;
	lim->dma_alignment = 3;
	lim->poll = ctrl->subsys->nr_poll;
	lim->p2p = tl->p2p;
	/* a namespace without blocks has nothing to cache, discard or zero */
	if (nof_format_is_generic(f))
		return;
	if (ctrl->ident.oncs & NVME_CTRL_ONCS_DSM) {
		lim->max_discard_bytes = discard_bytes(ctrl, f->lba_shift);
		lim->max_discard_segments = ctrl->nvm.ranges ?: NOF_MAX_RANGES;
		lim->discard_granularity = f->discard_granularity * lba ?: lba;
	}
	if (ctrl->ident.oncs & NVME_CTRL_ONCS_WRITE_ZEROES)
		lim->max_write_zeroes_bytes = write_zeroes_bytes(ctrl, f->lba_shift);
	lim->write_cache = ctrl->ident.vwc & NVME_CTRL_VWC_PRESENT;
	lim->fua = lim->write_cache;
	fill_atomics(ctrl, f, lim);
	if (f->zone_blocks)
		fill_zones(ctrl, f, lim);
}

/* Limits that both can keep */
static struct nof_limits limits_intersect(const struct nof_limits *has, const struct nof_limits *other)
{
	struct nof_limits lim = *has;

	lim.max_bytes = min(has->max_bytes, other->max_bytes);
	lim.max_segments = min(has->max_segments, other->max_segments);
	lim.virt_boundary |= other->virt_boundary;
	lim.max_discard_bytes = min(has->max_discard_bytes, other->max_discard_bytes);
	lim.max_discard_segments = min(has->max_discard_segments, other->max_discard_segments);
	lim.max_write_zeroes_bytes = min(has->max_write_zeroes_bytes, other->max_write_zeroes_bytes);
	lim.write_cache |= other->write_cache;
	lim.fua |= other->fua;
	lim.p2p &= other->p2p;
	lim.atomic_bytes = min(has->atomic_bytes, other->atomic_bytes);
	lim.atomic_boundary = min_not_zero(has->atomic_boundary, other->atomic_boundary);
	lim.max_open_zones = min_not_zero(has->max_open_zones, other->max_open_zones);
	lim.max_active_zones = min_not_zero(has->max_active_zones, other->max_active_zones);
	lim.max_append_bytes = min(has->max_append_bytes, other->max_append_bytes);
	return lim;
}

/* The limits of @has, with those that depend on single paths taken from @one */
static struct nof_limits limits_replace(const struct nof_limits *has, const struct nof_limits *one)
{
	struct nof_limits lim = *has;

	lim.max_bytes = one->max_bytes;
	lim.max_segments = one->max_segments;
	lim.virt_boundary = one->virt_boundary;
	lim.max_discard_bytes = one->max_discard_bytes;
	lim.max_discard_segments = one->max_discard_segments;
	lim.max_write_zeroes_bytes = one->max_write_zeroes_bytes;
	lim.p2p = one->p2p;
	lim.atomic_bytes = one->atomic_bytes;
	lim.atomic_boundary = one->atomic_boundary;
	lim.max_append_bytes = one->max_append_bytes;
	return lim;
}

/* Compares what limits_intersect() may change, by members: padding of a structure is undefined */
static bool limits_differ(const struct nof_limits *a, const struct nof_limits *b)
{
	return a->max_bytes != b->max_bytes || a->max_segments != b->max_segments ||
	       a->virt_boundary != b->virt_boundary || a->max_discard_bytes != b->max_discard_bytes ||
	       a->max_discard_segments != b->max_discard_segments ||
	       a->max_write_zeroes_bytes != b->max_write_zeroes_bytes || a->write_cache != b->write_cache ||
	       a->fua != b->fua || a->p2p != b->p2p || a->atomic_bytes != b->atomic_bytes ||
	       a->atomic_boundary != b->atomic_boundary || a->max_open_zones != b->max_open_zones ||
	       a->max_active_zones != b->max_active_zones || a->max_append_bytes != b->max_append_bytes;
}

bool nof_head_too_wide(const struct nof_head *head, const struct nof_ctrl *ctrl, const struct nof_ns_format *format)
{
	struct nof_limits other, lim;

	nof_head_fill_limits(ctrl, format, head, &other);
	lim = limits_intersect(&head->limits, &other);
	return limits_differ(&lim, &head->limits);
}

enum nof_unfit nof_path_unfit(const struct nof_path *path)
{
	bool caches = path->ctrl->ident.vwc & NVME_CTRL_VWC_PRESENT && !nof_format_is_generic(&path->head->format);

	lockdep_assert_held(&path->head->subsys->lock);
	return caches && !path->head->limits.write_cache ? NOF_UNFIT_CACHE : NOF_UNFIT_LESS;
}

/* An atomic write fits the path, whose size and boundary may be less than the disk's */
static bool fits_whole(const struct nof_limits *lim, const struct request *rq)
{
	u64 from = (u64)blk_rq_pos(rq) << SECTOR_SHIFT, last = from + blk_rq_bytes(rq) - 1;
	u32 shift = lim->atomic_boundary ? ilog2(lim->atomic_boundary) : 63;

	return blk_rq_bytes(rq) <= lim->atomic_bytes && from >> shift == last >> shift;
}

bool nof_path_can(const struct nof_path *path, const struct request *rq)
{
	struct nof_limits lim;

	nof_head_fill_limits(path->ctrl, &path->head->format, path->head, &lim);
	if (rq->cmd_flags & REQ_ATOMIC && !fits_whole(&lim, rq))
		return false;
	switch (req_op(rq)) {
	case REQ_OP_DISCARD:
		return blk_rq_bytes(rq) <= lim.max_discard_bytes &&
		       blk_rq_nr_discard_segments((struct request *)rq) <= lim.max_discard_segments;
	case REQ_OP_WRITE_ZEROES:
		return blk_rq_bytes(rq) <= lim.max_write_zeroes_bytes;
	default:
		return blk_rq_bytes(rq) <= lim.max_bytes;
	}
}

/* Some requests wait for a path, maybe the one that joins, or for a fence */
static bool limits_blocked(struct nof_head *head)
{
	return atomic_read(&head->waiting) || nof_fence_held(head);
}

/* Freezes the queue, as outstanding requests rely on the limits. @ctrl: of the path that joins; NULL: none */
static bool limits_freeze(struct nof_head *head, const struct nof_ctrl *ctrl, unsigned int tmo_ms)
{
	unsigned long begin = jiffies, end = begin + msecs_to_jiffies(tmo_ms);
	struct request_queue *q = head->disk->queue;

	lockdep_assert_held(&head->change.lock);
	if (time_before(begin, head->change.next))
		return false;
	blk_freeze_queue_start(q);
	while (!blk_mq_freeze_queue_wait_timeout(q, msecs_to_jiffies(50))) {
		bool live = !ctrl || nof_ctrl_state(ctrl) == NVMEOF_CTRL_LIVE;

		if (time_before(jiffies, end) && live && !limits_blocked(head))
			continue;
		blk_mq_unfreeze_queue_nomemrestore(q);
		/* a lost controller cut the wait short: that must not delay the next path */
		if (live)
			head->change.next = jiffies + NARROW_BACKOFF * (jiffies - begin);
		return false;
	}
	return true;
}

/* Returns true if that changes the reported P2P capability: see send_changed() */
static bool take_limits(struct nof_head *head, const struct nof_limits *lim)
{
	bool p2p_changed = head->limits.p2p != lim->p2p && test_bit(NOF_HEAD_ADDED, &head->flags);

	lockdep_assert_held(&head->subsys->lock);
	head->limits = *lim;
	return p2p_changed;
}

static bool set_limits(struct nof_head *head, const struct nof_limits *lim)
{
	bool p2p_changed;

	mutex_lock(&head->subsys->lock);
	p2p_changed = take_limits(head, lim);
	mutex_unlock(&head->subsys->lock);
	return p2p_changed;
}

/*
 * Applications that use memory of other devices need to know at once whether they may. Called without locks and with
 * the queue unfrozen: allocating the event may wait for writeback to this disk.
 */
static void send_changed(struct nof_head *head, bool p2p_changed)
{
	if (p2p_changed)
		nof_events->ns(head, NVMEOF_EVENT_CHANGED);
}

enum nof_refusal nof_head_narrow(struct nof_head *head, const struct nof_ctrl *ctrl, const struct nof_ns_format *format)
{
	enum nof_refusal refusal = NOF_REFUSED_BUSY;
	struct nof_limits lim;
	bool p2p_changed = false;

	mutex_lock(&head->change.lock);
	if (!limits_freeze(head, ctrl, NARROW_TMO_MS))
		goto unlock;
	nof_head_fill_limits(ctrl, format, head, &lim);
	lim = limits_intersect(&head->limits, &lim);
	refusal = nof_limits_update(head->disk, &lim) ? NOF_REFUSED_LIMITS : NOF_ATTACHED;
	/* unfreeze first: a holder of subsys->lock may wait for memory, and so for writeback to this disk */
	blk_mq_unfreeze_queue_nomemrestore(head->disk->queue);
	if (!refusal)
		p2p_changed = set_limits(head, &lim);
unlock:
	mutex_unlock(&head->change.lock);
	send_changed(head, p2p_changed);
	return refusal;
}

/*
 * Returns true if all paths can do more than the limits say, with these limits in @lim. A write cache stays reported,
 * as writers rely on that. If a path is unfit, lowering the limits for it comes first.
 */
static bool head_could(const struct nof_head *head, struct nof_limits *lim)
{
	struct nof_limits sum = head->limits, one;
	const struct nof_path *path;
	bool first = true;

	lockdep_assert_held(&head->subsys->lock);
	list_for_each_entry(path, &head->paths, entry) {
		if (path->unfit)
			return false;
		nof_head_fill_limits(path->ctrl, &head->format, head, &one);
		sum = first ? limits_replace(&sum, &one) : limits_intersect(&sum, &one);
		first = false;
	}
	sum.write_cache = head->limits.write_cache;
	sum.fua = head->limits.fua;
	one = limits_intersect(&head->limits, &sum);
	*lim = sum;
	return !first && limits_differ(&head->limits, &sum) && !limits_differ(&head->limits, &one);
}

void nof_head_widen_later(struct nof_head *head)
{
	struct nof_limits lim;

	lockdep_assert_held(&head->subsys->lock);
	if (!nof_head_removing(head) && head_could(head, &lim))
		queue_delayed_work(nof_wq, &head->change.widen_work, WIDEN_DELAY);
}

/* Raises head->limits to what all paths can do, returned in @lim; false if there is nothing to raise */
static bool limits_raise(struct nof_head *head, struct nof_limits *lim, bool *p2p_changed)
{
	bool more;

	mutex_lock(&head->subsys->lock);
	more = !nof_head_removing(head) && head_could(head, lim);
	*p2p_changed = more && take_limits(head, lim);
	mutex_unlock(&head->subsys->lock);
	return more;
}

/*
 * Returns false if this has to be tried again. head->limits is raised before the queue's: a path that joins meanwhile
 * has to fit the new limits. Caller holds change.lock; while the disk is frozen subsys->lock is not taken.
 */
static bool head_widen(struct nof_head *head, bool *p2p_changed)
{
	struct nof_limits was = head->limits, lim;
	bool frozen;
	int err = 0;

	if (!limits_raise(head, &lim, p2p_changed))
		return true;
	frozen = limits_freeze(head, NULL, WIDEN_TMO_MS);
	if (frozen) {
		err = nof_limits_update(head->disk, &lim);
		blk_mq_unfreeze_queue_nomemrestore(head->disk->queue);
	}
	if (!frozen || err) {
		set_limits(head, &was);
		*p2p_changed = false;
	}
	return frozen;
}

void nof_head_widen_work(struct work_struct *work)
{
	struct nof_head *head = container_of(to_delayed_work(work), struct nof_head, change.widen_work);
	bool again, p2p_changed;

	mutex_lock(&head->change.lock);
	again = !head_widen(head, &p2p_changed);
	mutex_unlock(&head->change.lock);
	send_changed(head, p2p_changed);
	if (again)
		queue_delayed_work(nof_wq, &head->change.widen_work, WIDEN_BACKOFF);
}
