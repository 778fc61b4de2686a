// SPDX-License-Identifier: GPL-2.0-only
/*
 * Submission of block requests: from blk-mq to the queue of a path, including the setup of the submission queue entry
 * (NVM Command Set 1.0, 3.2). Completion is in mpath/complete.c.
 */
#include <linux/blk-integrity.h>
#include <linux/blk-mq.h>
#include <linux/slab.h>
#include <linux/srcu.h>
#include "core/ctrl.h"
#include "core/direct.h"
#include "core/queue.h"
#include "core/subsys.h"
#include "core/trace.h"
#include "core/transport.h"
#include "mpath/choose.h"
#include "mpath/complete.h"
#include "mpath/discard_ranges.h"
#include "mpath/hctx.h"
#include "mpath/head.h"
#include "mpath/park.h"
#include "mpath/path.h"
#include "mpath/request.h"
#include "mpath/requeue.h"
#include "mpath/selector.h"
#include "mpath/zones.h"
#include "wire/identify.h"

/* blk-mq warns about more contexts than CPUs; control/connect_options.c limits both numbers to the possible CPUs. */
static void hctx_spread(struct blk_mq_queue_map *map, u32 nr, u32 offset)
{
	map->nr_queues = nr;
	map->queue_offset = offset;
	blk_mq_map_queues(map);
}

static void hctx_map(struct blk_mq_tag_set *set)
{
	struct nof_subsys *s = set->driver_data;

	hctx_spread(&set->map[HCTX_TYPE_DEFAULT], s->nr_default, 0);
	if (set->nr_maps == 1)
		return;
	/* reads share the default contexts */
	set->map[HCTX_TYPE_READ].nr_queues = 0;
	hctx_spread(&set->map[HCTX_TYPE_POLL], s->nr_poll, s->nr_default);
}

static int hctx_init(struct blk_mq_hw_ctx *hctx, void *data, unsigned int index)
{
	struct nof_hctx *h = kzalloc_node(sizeof(*h), GFP_KERNEL, hctx->numa_node);

	if (!h)
		return -ENOMEM;
	h->starved.hctx = hctx;
	hctx->driver_data = h;
	return 0;
}

static void hctx_exit(struct blk_mq_hw_ctx *hctx, unsigned int index)
{
	struct nof_subsys *s = hctx->queue->tag_set->driver_data;
	struct nof_hctx *h = hctx->driver_data;

	nof_queue_wait_del(&h->starved, &s->srcu);
	kfree(h);
}

static u64 to_lba(const struct nof_head *head, sector_t sector)
{
	return sector >> (head->lba_shift - SECTOR_SHIFT);
}

static u64 lba_of(const struct nof_head *head, const struct request *rq)
{
	return to_lba(head, blk_rq_pos(rq));
}

static u32 request_blocks(const struct nof_head *head, const struct request *rq)
{
	return blk_rq_bytes(rq) >> head->lba_shift;
}

/* Protection information that the block layer did not generate. The submitter may depend on its exact contents. */
static bool pi_is_foreign(const struct request *rq)
{
	const struct bio_integrity_payload *bip;
	struct bio *bio;

	__rq_for_each_bio(bio, rq) {
		bip = bio_integrity(bio);
		if (!bip || !(bip->bip_flags & BIP_BLOCK_INTEGRITY))
			return true;
	}
	return false;
}

/*
 * True if the path can transfer the protection information of a request, or may omit it because the block layer
 * generated it
 */
static bool sqe_takes_pi(const struct nof_path *path, const struct request *rq)
{
	return nof_carries_pi(path->ctrl, &path->head->format) || !pi_is_foreign(rq);
}

/*
 * Used if protection information is not transferred: the controller generates and checks its own (PRACT). The block
 * layer does not check tuples of a read whose application tag is FFFFh.
 */
static void pi_ignore(const struct request *rq)
{
	const struct bio_integrity_payload *bip;
	struct bvec_iter it;
	struct bio_vec bv;
	struct bio *bio;

	if (req_op(rq) != REQ_OP_READ)
		return;
	__rq_for_each_bio(bio, rq) {
		bip = bio_integrity(bio);
		for_each_bvec(bv, bip->bip_vec, it, bip->bip_iter)
			memset(bvec_virt(&bv), 0xff, bv.bv_len);
	}
}

/* Adds the protection information of a request to its data if the path can transfer it */
static blk_status_t pi_setup(const struct nof_path *path, struct request *rq, struct nof_cmd *cmd)
{
	const struct nof_ns_format *format = &path->head->format;

	if (likely(!blk_integrity_rq(rq)))
		return BLK_STS_OK;
	if (!nof_carries_pi(path->ctrl, format)) {
		if (pi_is_foreign(rq))
			return BLK_STS_NOTSUPP;
		pi_ignore(rq);
		return BLK_STS_OK;
	}
	cmd->pi_bytes = format->pi_bytes;
	cmd->pi_shift = format->lba_shift;
	cmd->len += (cmd->len >> format->lba_shift) * format->pi_bytes;
	return BLK_STS_OK;
}

/*
 * PRINFO (NVM Command Set 1.0, 5.2): checks the guard and, for types 1 and 2, the reference tag. If no protection
 * information is transferred, PRACT makes the controller insert and strip it.
 */
static u16 pi_control(const struct nof_head *head, const struct nof_cmd *cmd)
{
	u16 control = cmd->pi_bytes ? 0 : NVME_RW_PRINFO_PRACT;

	switch (head->format.pi_type) {
	case 0:
		return 0;
	case NVME_NS_DPS_PI_TYPE3:
		return control | NVME_RW_PRINFO_PRCHK_GUARD;
	default:
		return control | NVME_RW_PRINFO_PRCHK_GUARD | NVME_RW_PRINFO_PRCHK_REF;
	}
}

/* Initial reference tag: it increments with each block. With a 64-bit guard it has 48 bits. */
static void pi_set_reftag(const struct nof_head *head, const struct request *rq, struct nof_cmd *cmd)
{
	u64 lba = lba_of(head, rq);

	if (!head->format.pi_type || head->format.pi_type == NVME_NS_DPS_PI_TYPE3)
		return;
	cmd->sqe.rw.reftag = cpu_to_le32(lower_32_bits(lba));
	if (head->format.pi_bytes == NOF_PI_BYTES_64B)
		cmd->sqe.rw.cdw3 = cpu_to_le32(upper_32_bits(lba) & 0xffff);
}

static __always_inline blk_status_t setup_rw(const struct nof_path *path, struct request *rq, struct nof_cmd *cmd,
					     u8 opcode)
{
	const struct nof_head *head = path->head;
	struct nvme_rw_command *rw = &cmd->sqe.rw;
	u16 control = 0;
	blk_status_t ret;

	cmd->len = blk_rq_bytes(rq);
	cmd->write = opcode != nvme_cmd_read;
	*rw = (struct nvme_rw_command){
		.opcode	= opcode,
		.nsid	= cpu_to_le32(path->nsid),
		.slba	= cpu_to_le64(lba_of(head, rq)),
		.length	= cpu_to_le16(request_blocks(head, rq) - 1),
	};
	if (unlikely(head->format.pi_type) || blk_integrity_rq(rq)) {
		ret = pi_setup(path, rq, cmd);
		if (unlikely(ret != BLK_STS_OK))
			return ret;
		control = pi_control(head, cmd);
		pi_set_reftag(head, rq, cmd);
	}
	if (rq->cmd_flags & (REQ_FUA | REQ_FAILFAST_DEV | REQ_RAHEAD)) {
		if (rq->cmd_flags & REQ_FUA)
			control |= NVME_RW_FUA;
		if (rq->cmd_flags & (REQ_FAILFAST_DEV | REQ_RAHEAD))
			control |= NVME_RW_LR;
		if (rq->cmd_flags & REQ_RAHEAD)
			rw->dsmgmt = cpu_to_le32(NVME_RW_DSM_FREQ_PREFETCH);
	}
	rw->control = cpu_to_le16(control);
	return BLK_STS_OK;
}

static void setup_write_zeroes(const struct nof_head *head, const struct request *rq, struct nof_cmd *cmd)
{
	struct nvme_write_zeroes_cmd *wz = &cmd->sqe.write_zeroes;
	u16 control = 0;

	memset(wz, 0, sizeof(*wz));
	wz->opcode = nvme_cmd_write_zeroes;
	wz->slba = cpu_to_le64(lba_of(head, rq));
	wz->length = cpu_to_le16(request_blocks(head, rq) - 1);
	/* there is no data to check */
	if (head->format.pi_type)
		control = NVME_RW_PRINFO_PRACT;
	/* allow deallocation only if deallocated blocks read as zeroes and the caller permits it */
	if (!(rq->cmd_flags & REQ_NOUNMAP) && head->format.discard_zeroes)
		control |= NVME_WZ_DEAC;
	wz->control = cpu_to_le16(control);
	pi_set_reftag(head, rq, cmd);
	cmd->len = 0;
	cmd->write = false;
}

static void set_range(const struct nof_head *head, struct nvme_dsm_range *range, sector_t sector, u32 bytes)
{
	range->cattr = 0;
	range->nlb = cpu_to_le32(bytes >> head->lba_shift);
	range->slba = cpu_to_le64(to_lba(head, sector));
}

/* Merges contiguous bios into one range. Returns the number of ranges. */
static u32 set_ranges(const struct nof_head *head, const struct request *rq, struct nvme_dsm_range *ranges)
{
	sector_t from = blk_rq_pos(rq);
	struct bio *bio;
	u32 bytes = 0, nr = 0;

	__rq_for_each_bio(bio, rq) {
		if (bio->bi_iter.bi_sector != from + (bytes >> SECTOR_SHIFT)) {
			from = bio->bi_iter.bi_sector;
			bytes = 0;
			nr++;
		}
		if (WARN_ON_ONCE(nr == NOF_MAX_RANGES))
			return nr;
		bytes += bio->bi_iter.bi_size;
		set_range(head, &ranges[nr], from, bytes);
	}
	return nr + 1;
}

/*
 * A single range is stored in the command. Several ranges, merged by blk-mq, need memory from a mempool, because
 * discards may be needed to free memory. Returns false if the allocation fails now.
 */
static bool setup_discard(const struct nof_head *head, struct request *rq, struct nof_cmd *cmd)
{
	struct nof_request *req = container_of(cmd, struct nof_request, cmd);
	struct nvme_dsm_cmd *dsm = &cmd->sqe.dsm;
	u32 nr = 1;

	if (likely(blk_rq_nr_discard_segments(rq) == 1))
		set_range(head, &cmd->dsm, blk_rq_pos(rq), blk_rq_bytes(rq));
	else if (nof_ranges_get(req))
		nr = set_ranges(head, rq, req->ranges);
	else
		return false;
	memset(dsm, 0, sizeof(*dsm));
	dsm->opcode = nvme_cmd_dsm;
	dsm->nr = cpu_to_le32(nr - 1);
	dsm->attributes = cpu_to_le32(NVME_DSMGMT_AD);
	cmd->buf = req->ranges ?: &cmd->dsm;
	cmd->len = nr * sizeof(cmd->dsm);
	cmd->write = true;
	return true;
}

static void setup_zone(const struct nof_head *head, const struct request *rq, struct nof_cmd *cmd, u8 action)
{
	struct nvme_zone_mgmt_send_cmd *zone = &cmd->sqe.zms;

	memset(zone, 0, sizeof(*zone));
	zone->opcode = nvme_cmd_zone_mgmt_send;
	zone->slba = cpu_to_le64(lba_of(head, rq));
	zone->zsa = action;
	zone->select_all = req_op(rq) == REQ_OP_ZONE_RESET_ALL;
	cmd->len = 0;
	cmd->write = false;
}

static void setup_flush(struct nof_cmd *cmd)
{
	memset(&cmd->sqe, 0, sizeof(cmd->sqe));
	cmd->sqe.common.opcode = nvme_cmd_flush;
	cmd->len = 0;
	cmd->write = false;
}

/*
 * The submitter of a passthrough request provides the SQE. The driver clears the SGL flags, which an earlier path may
 * have set, and fills in the members that it owns.
 */
static void setup_passthrough(const struct nof_head *head, const struct request *rq, struct nof_cmd *cmd)
{
	cmd->sqe.common.flags = 0;
	cmd->opaque = nof_format_is_generic(&head->format);
	cmd->len = blk_rq_bytes(rq);
	cmd->write = op_is_write(req_op(rq));
}

/*
 * Fills cmd from rq: sqe without SGL and identifier, buf, len, write, pi_bytes. Returns BLK_STS_NOTSUPP for an
 * unsupported operation, or for foreign protection information that the path cannot transfer; BLK_STS_RESOURCE if
 * there is no memory for the ranges of a discard.
 */
static blk_status_t sqe_setup(const struct nof_path *path, struct request *rq, struct nof_cmd *cmd)
{
	const struct nof_head *head = path->head;
	blk_status_t ret = BLK_STS_OK;

	cmd->done = NULL;
	cmd->buf = NULL;
	cmd->pi_bytes = 0;
	cmd->opaque = false;
	/* fast path: test reads and writes before all other operations */
	if (likely(req_op(rq) == REQ_OP_READ || req_op(rq) == REQ_OP_WRITE))
		return setup_rw(path, rq, cmd, req_op(rq) == REQ_OP_READ ? nvme_cmd_read : nvme_cmd_write);
	switch (req_op(rq)) {
	case REQ_OP_FLUSH:
		setup_flush(cmd);
		break;
	case REQ_OP_DISCARD:
		if (!setup_discard(head, rq, cmd))
			return BLK_STS_RESOURCE;
		break;
	case REQ_OP_WRITE_ZEROES:
		setup_write_zeroes(head, rq, cmd);
		break;
	case REQ_OP_ZONE_APPEND:
		ret = setup_rw(path, rq, cmd, nvme_cmd_zone_append);
		break;
	case REQ_OP_ZONE_OPEN:
		setup_zone(head, rq, cmd, NVME_ZONE_OPEN);
		break;
	case REQ_OP_ZONE_CLOSE:
		setup_zone(head, rq, cmd, NVME_ZONE_CLOSE);
		break;
	case REQ_OP_ZONE_FINISH:
		setup_zone(head, rq, cmd, NVME_ZONE_FINISH);
		break;
	case REQ_OP_ZONE_RESET:
	case REQ_OP_ZONE_RESET_ALL:
		setup_zone(head, rq, cmd, NVME_ZONE_RESET);
		break;
	case REQ_OP_DRV_IN:
	case REQ_OP_DRV_OUT:
		setup_passthrough(head, rq, cmd);
		break;
	default:
		return BLK_STS_NOTSUPP;
	}
	cmd->sqe.common.nsid = cpu_to_le32(path->nsid);
	return ret;
}

/*
 * A request is submitted to the queue of its hardware context. A request of a polled context whose REQ_POLLED was
 * cleared uses an interrupt-driven queue instead, because no task polls for it.
 */
static bool needs_fallback(const struct nof_subsys *s, const struct request *rq)
{
	return rq->mq_hctx->queue_num >= s->nr_default && !(rq->cmd_flags & REQ_POLLED);
}

static struct nof_queue *queue_of(const struct nof_subsys *s, const struct nof_ctrl_map *map, const struct request *rq,
				  bool fallback)
{
	u32 h = rq->mq_hctx->queue_num;

	return map->queues[unlikely(fallback) ? h % s->nr_default : h];
}

/* Delay of a kick after a queue was closed: recovery has published the next path set before */
#define NEXT_SET	msecs_to_jiffies(100)

/* Interval at which waiting passthrough requests are checked against their time limit */
#define PASSTHROUGH_LOOK	HZ

static void request_begin_wait(struct nof_head *head, struct nof_request *req)
{
	if (req->waiting)
		return;
	req->waiting = true;
	atomic_inc(&head->waiting);
	atomic_inc(&head->subsys->waiting);
}

/* @seq: head->set_seq of the path set in which the request found no path */
static void requeue_to_wait(struct nof_head *head, struct request *rq, unsigned int seq)
{
	bool passthrough = blk_rq_is_passthrough(rq);
	struct request_queue *q = nof_request_queue_get(rq);

	blk_mq_requeue_request(rq, false);
	/* after the request is on the list, otherwise a kick that is already due would miss it */
	if (passthrough)
		nof_head_kick_later(head, PASSTHROUGH_LOOK);
	/* a path set published since @seq may have kicked the list before this request was on it */
	smp_mb();
	if (READ_ONCE(head->set_seq) != seq)
		blk_mq_kick_requeue_list(q);
	nof_request_queue_put(q);
}

/*
 * Makes the request wait, in blk-mq's requeue list or parked, until a path set has a usable path, or no path that may
 * come back. The caller fails the bios on @late, whose disk no longer accepts I/O.
 */
static blk_status_t wait_for_path(struct nof_head *head, struct request *rq, bool may_wait, unsigned int seq,
				  struct list_head *late)
{
	struct nof_request *req = blk_mq_rq_to_pdu(rq);
	bool passthrough = blk_rq_is_passthrough(rq);
	LIST_HEAD(parked);

	if (!may_wait || (passthrough && (req->no_wait || !nof_request_in_time(rq))))
		return BLK_STS_TRANSPORT;
	nof_request_clear_marks(rq);
	if (!req->waiting && nof_park(rq, &parked)) {
		nof_park_wait(&parked, &seq, late);
		return BLK_STS_OK;
	}
	request_begin_wait(head, req);
	requeue_to_wait(head, rq, seq);
	return BLK_STS_OK;
}

/* Commits on all paths: earlier requests of this batch may be pending on other paths */
static void commit_all(struct nof_subsys *s, const struct nof_path_set *set, const struct blk_mq_hw_ctx *hctx)
{
	struct nof_hctx *h = hctx->driver_data;
	struct nof_ctrl_map *map;
	u16 i;

	WRITE_ONCE(h->pending, false);
	smp_mb();
	for (i = 0; i < set->nr_all; i++) {
		struct nof_ctrl *ctrl = set->paths[i]->ctrl;

		map = srcu_dereference(ctrl->queues.map, &s->srcu);
		if (map)
			ctrl->transport->commit(map->queues[hctx->queue_num]);
	}
}

static __always_inline void request_started(struct nof_path *path, struct request *rq, const bool odd)
{
	struct nof_subsys *s = path->head->subsys;
	u16 gen = smp_load_acquire(&s->selector_gen);
	const struct nof_selector *selector = srcu_dereference(s->selector, &s->srcu);
	struct nof_request *req = blk_mq_rq_to_pdu(rq);

	if (odd && req->left_ctrl) {
		if (req->path_failed && req->left_ctrl != path->ctrl->id)
			this_cpu_inc(path->stats->failovers_to);
		req->left_ctrl = 0;
		req->retry_at = 0;
	}
	req->gen = 0;
	if (unlikely(selector->start)) {
		selector->start(path, rq);
		req->gen = gen;
	}
	trace_nof_path_select(path, rq);
	this_cpu_inc(path->stats->sent);
	req->sent_ns = ktime_get_ns();
	blk_mq_start_request(rq);
}

/* @odd: constant; true compiles in the checks that only unusual requests need, see request_is_odd() */
static __always_inline blk_status_t request_send(struct nof_head *head, struct nof_path *path, struct request *rq,
						 bool last, const bool odd)
{
	struct nof_request *req = blk_mq_rq_to_pdu(rq);
	struct nof_subsys *s = head->subsys;
	struct nof_ctrl *ctrl = path->ctrl;
	struct nof_ctrl_map *map = srcu_dereference(ctrl->queues.map, &s->srcu);
	bool fallback = needs_fallback(s, rq);
	struct nof_queue *queue;
	blk_status_t ret;
	int err;

	/* the queues were freed after the set was published; the next set is about to be published */
	if (unlikely(!map))
		return BLK_STS_RESOURCE;
	queue = queue_of(s, map, rq, fallback);
	/* if an earlier try may have been executed, send a zone report instead of the command */
	if (odd && req->zone)
		ret = nof_zone_query(head, req, path->nsid) ? BLK_STS_RESOURCE : BLK_STS_OK;
	else
		ret = sqe_setup(path, rq, &req->cmd);
	if (unlikely(ret != BLK_STS_OK))
		return ret;
	req->path = path;
	err = nof_queue_add(queue, &req->cmd);
	if (unlikely(err)) {
		nof_zone_query_free(req);
		if (err == -EOPNOTSUPP)
			return BLK_STS_NOTSUPP;
		if (err == -EIO)
			return BLK_STS_IOERR;
		if (err == -EBUSY || err == -EAGAIN)
			nof_queue_wait_add(queue, &nof_hctx_of(rq)->starved, err);
		return BLK_STS_RESOURCE;
	}
	request_started(path, rq, odd);
	/* commit_all() does not commit the fallback queue, so submit at once */
	ctrl->transport->queue_cmd(queue, &req->cmd, last || fallback);
	return BLK_STS_OK;
}

/* True if the path can access the data of the request and transfer its protection information */
static bool path_reaches(const struct nof_path *path, struct request *rq)
{
	if (unlikely(blk_integrity_rq(rq)) && !sqe_takes_pi(path, rq))
		return false;
	return !static_branch_unlikely(&nof_direct_key) || nof_direct_reaches_all(path->ctrl) ||
	       nof_direct_reaches(path->ctrl, nof_direct_of(rq));
}

static bool path_can_carry(const struct nof_path *path, struct request *rq)
{
	return (likely(!READ_ONCE(path->unfit)) || nof_path_can(path, rq)) && path_reaches(path, rq);
}

/*
 * Returns @path or another path that can carry the request; NULL if it exceeds the limits of all paths. If no path can
 * access its data, returns @path: check_direct_data() or sqe_setup() then fails the request.
 */
static struct nof_path *choose_capable(const struct nof_path_set *set, struct nof_path *path, struct request *rq)
{
	u16 i;

	if (path_can_carry(path, rq))
		return path;
	nof_choose_undo(path, rq);
	for (i = 0; i < set->nr_usable; i++)
		if (path_can_carry(set->paths[i], rq))
			return set->paths[i];
	return path_reaches(path, rq) ? NULL : path;
}

/*
 * Fails a request whose data is in device memory that the path cannot access, so that the application can fall back to
 * another method: waiting for a suitable path could take too long. A request that merges bios with memory of several
 * devices is split into its bios again (@parted).
 */
static blk_status_t check_direct_data(struct nof_path *path, struct request *rq, bool *parted,
				      struct list_head *late)
{
	struct nof_request *req = blk_mq_rq_to_pdu(rq);
	LIST_HEAD(list);
	unsigned int what;
	blk_status_t ret;

	/* common case: the pages need not be checked */
	if (blk_rq_nr_phys_segments(rq) <= 1 && !req->gpu && nof_direct_reaches_all(path->ctrl))
		return BLK_STS_OK;
	what = nof_direct_of(rq);
	/* the provider of the GPU pages was unregistered since an earlier try */
	if (req->gpu && !(what & NOF_DIRECT_GPU))
		return BLK_STS_IOERR;
	req->gpu = what & NOF_DIRECT_GPU;
	if (!nof_direct_reaches(path->ctrl, what))
		return BLK_STS_NOTSUPP;
	if (likely(!(what & NOF_DIRECT_MIXED)))
		return BLK_STS_OK;
	if (rq->bio == rq->biotail)
		return BLK_STS_NOTSUPP;
	/* before the split, which ends the request */
	nof_choose_undo(path, rq);
	ret = nof_park_split(rq, &list);
	if (ret != BLK_STS_OK)
		return ret;
	nof_park_wait(&list, NULL, late);
	*parted = true;
	return BLK_STS_OK;
}

/* For passthrough bound to one controller. Returns NULL if that controller has no usable path. */
static struct nof_path *find_ctrl_path(const struct nof_path_set *set, u32 ctrl_id)
{
	u16 i;

	for (i = 0; i < set->nr_usable; i++)
		if (set->paths[i]->ctrl->id == ctrl_id)
			return set->paths[i];
	return NULL;
}

/* Requeues a request whose retry delay has not elapsed: a kick of the list dispatches all its requests */
static bool wait_retry_delay(struct nof_head *head, const struct nof_path *path, struct request *rq)
{
	struct nof_request *req = blk_mq_rq_to_pdu(rq);
	unsigned long at = req->retry_at;
	struct request_queue *q;

	if (!at || (path->ctrl->id != req->left_ctrl && !req->delay_requested) || time_after_eq(jiffies, at))
		return false;
	nof_request_clear_marks(rq);
	q = nof_request_queue_get(rq);
	blk_mq_requeue_request(rq, false);
	nof_head_kick_later(head, max_t(long, at - jiffies, 1));
	nof_request_queue_put(q);
	return true;
}

static bool path_is_dead(const struct nof_path *path, const struct request *rq)
{
	struct nof_subsys *s = path->head->subsys;
	const struct nof_ctrl_map *map = srcu_dereference(path->ctrl->queues.map, &s->srcu);

	return !map || !nof_queue_live(queue_of(s, map, rq, needs_fallback(s, rq)));
}

/*
 * The path died after the set was published: waits for the next set, which may already be there. If the request may not
 * wait, returns BLK_STS_RESOURCE: blk-mq retries after a few milliseconds.
 */
static blk_status_t wait_for_next(struct nof_head *head, const struct nof_path_set *set, struct request *rq,
				  unsigned int seq, struct list_head *late)
{
	struct request_queue *q = nof_request_queue_get(rq);
	blk_status_t ret = wait_for_path(head, rq, set->may_wait, seq, late);

	if (ret == BLK_STS_OK)
		nof_head_kick_later(head, NEXT_SET);
	nof_request_queue_put(q);
	return ret == BLK_STS_OK ? BLK_STS_OK : BLK_STS_RESOURCE;
}

/* After @path failed to take the request with status @ret: tries another path, or waits if @path is dead */
static noinline blk_status_t send_elsewhere(struct nof_head *head, const struct nof_path_set *set,
					    struct nof_path *path, struct request *rq, bool last, unsigned int seq,
					    blk_status_t ret, struct list_head *late)
{
	struct nof_request *req = blk_mq_rq_to_pdu(rq);
	struct nof_path *other = NULL;

	nof_choose_undo(path, rq);
	/* a bound request must stay on its controller */
	if (set->nr_usable > 1 && !req->bound)
		other = nof_choose_other(set, path->ctrl->id, rq);
	if (other && path_can_carry(other, rq))
		ret = request_send(head, other, rq, last, true);
	if (ret == BLK_STS_RESOURCE && path_is_dead(path, rq))
		ret = wait_for_next(head, set, rq, seq, late);
	return ret;
}

/* True if the request needs the slow path, submit_odd() */
static bool request_is_odd(const struct nof_request *req, const struct nof_path *path, struct request *rq)
{
	return req->odd || READ_ONCE(path->unfit) || blk_integrity_rq(rq) || static_branch_unlikely(&nof_direct_key);
}

/* @path: result of nof_choose(), may be NULL */
static noinline blk_status_t submit_odd(struct nof_head *head, const struct nof_path_set *set, struct nof_path *path,
					struct request *rq, bool last, unsigned int seq, struct list_head *late)
{
	struct nof_request *req = blk_mq_rq_to_pdu(rq);
	blk_status_t ret = BLK_STS_OK;
	bool parted = false;

	if (path && req->left_ctrl)
		path = nof_choose_again(set, path, req->left_ctrl, rq);
	if (path)
		path = choose_capable(set, path, rq);
	if (set && req->bound)
		path = find_ctrl_path(set, req->only);
	/* it must not be retried; its fence has ended, so fail it now */
	if (req->fail_after_fence)
		return BLK_STS_TRANSPORT;
	if (!path)
		return wait_for_path(head, rq, set && set->may_wait, seq, late);
	/* any kick dispatches the whole requeue list: do not waste a retry before the ANA log was read */
	if (req->left_ctrl && nof_ana_refuses(path))
		return wait_for_path(head, rq, true, seq, late);
	if (req->waiting)
		nof_request_end_wait(head, req);
	if (req->left_ctrl && wait_retry_delay(head, path, rq))
		return BLK_STS_OK;
	if (static_branch_unlikely(&nof_direct_key))
		ret = check_direct_data(path, rq, &parted, late);
	if (parted)
		return BLK_STS_OK;
	if (ret != BLK_STS_OK) {
		nof_choose_undo(path, rq);
		return ret;
	}
	ret = request_send(head, path, rq, last, true);
	return ret == BLK_STS_OK ? ret : send_elsewhere(head, set, path, rq, last, seq, ret, late);
}

/*
 * Called after each request: the task that clears the flag submits the pending batch. Earlier requests of the batch may
 * be pending on a path that the last request did not use, because the set changed, or on the polled queue of a context
 * whose last request was not polled.
 */
static void hold_or_commit(struct nof_subsys *s, const struct nof_path_set *set, const struct blk_mq_hw_ctx *hctx,
			   bool last)
{
	struct nof_hctx *h = hctx->driver_data;

	if (!last)
		WRITE_ONCE(h->pending, true);
	else if (unlikely(READ_ONCE(h->pending)) && set)
		commit_all(s, set, hctx);
}

/* On the first try. A request made from parked bios inherits the retry state of its predecessor. */
static void request_init(struct request *rq)
{
	struct nof_request *req = blk_mq_rq_to_pdu(rq);

	rq->rq_flags |= RQF_DONTPREP;
	req->odd = 0;
	req->bound = blk_rq_is_passthrough(rq) && req->only;
	memset(&req->past, 0, sizeof(req->past));
	memset(&req->tries, 0, sizeof(req->tries));
	req->retry_at = 0;
	req->since = jiffies;
	req->ranges = NULL;
	if (unlikely(nof_parked(rq)))
		nof_park_resume(rq);
}

static blk_status_t queue_rq(struct blk_mq_hw_ctx *hctx, const struct blk_mq_queue_data *bd)
{
	struct nof_head *head = hctx->queue->queuedata;
	struct nof_request *req = blk_mq_rq_to_pdu(bd->rq);
	struct nof_subsys *s = head->subsys;
	unsigned int seq = READ_ONCE(head->set_seq);
	struct nof_path_set *set;
	struct nof_path *path;
	blk_status_t ret;
	LIST_HEAD(late);
	int idx;

	if (!(bd->rq->rq_flags & RQF_DONTPREP))
		request_init(bd->rq);
	/* pairs with nof_head_publish(): the set read below is not older than seq */
	smp_rmb();
	idx = srcu_read_lock(&s->srcu);
	set = srcu_dereference(head->set, &s->srcu);
	path = likely(set) ? nof_choose(head, set, srcu_dereference(s->selector, &s->srcu), bd->rq, bd->last) : NULL;
	if (unlikely(!path) || unlikely(request_is_odd(req, path, bd->rq))) {
		ret = submit_odd(head, set, path, bd->rq, bd->last, seq, &late);
	} else {
		ret = request_send(head, path, bd->rq, bd->last, false);
		if (unlikely(ret != BLK_STS_OK))
			ret = send_elsewhere(head, set, path, bd->rq, bd->last, seq, ret, &late);
	}
	hold_or_commit(s, set, hctx, bd->last);
	srcu_read_unlock(&s->srcu, idx);
	if (unlikely(!list_empty(&late)))
		nof_park_fail(&late);
	if (unlikely(ret != BLK_STS_OK && ret != BLK_STS_RESOURCE))
		nof_request_release(head, req);
	return ret;
}

static void commit_rqs(struct blk_mq_hw_ctx *hctx)
{
	struct nof_head *head = hctx->queue->queuedata;
	struct nof_subsys *s = head->subsys;
	struct nof_path_set *set;
	int idx = srcu_read_lock(&s->srcu);

	set = srcu_dereference(head->set, &s->srcu);
	if (set)
		commit_all(s, set, hctx);
	srcu_read_unlock(&s->srcu, idx);
}

int nof_head_poll(struct nof_head *head, u32 hctx, struct io_comp_batch *iob)
{
	struct nof_subsys *s = head->subsys;
	struct nof_completed done;
	struct nof_path_set *set;
	struct nof_ctrl_map *map;
	int idx, found = 0;
	u16 i;

	nof_completed_init(&done, iob);
	idx = srcu_read_lock(&s->srcu);
	set = srcu_dereference(head->set, &s->srcu);
	for (i = 0; set && i < set->nr_all; i++) {
		struct nof_ctrl *ctrl = set->paths[i]->ctrl;

		map = srcu_dereference(ctrl->queues.map, &s->srcu);
		if (map && test_bit(NOF_Q_POLLED, &map->queues[hctx]->flags))
			found += ctrl->transport->poll(map->queues[hctx], &done);
	}
	srcu_read_unlock(&s->srcu, idx);
	nof_completed_end(&done);
	return found;
}

static int hctx_poll(struct blk_mq_hw_ctx *hctx, struct io_comp_batch *iob)
{
	return nof_head_poll(hctx->queue->queuedata, hctx->queue_num, iob);
}

const struct blk_mq_ops nof_mq_ops = {
	.init_hctx	= hctx_init,
	.exit_hctx	= hctx_exit,
	.queue_rq	= queue_rq,
	.commit_rqs	= commit_rqs,
	.complete	= nof_request_end,
	.timeout	= nof_request_timeout,
	.poll		= hctx_poll,
	.map_queues	= hctx_map,
};
