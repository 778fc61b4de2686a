// SPDX-License-Identifier: GPL-2.0-only
/* The way of a block request from blk-mq to the queue of a path; mpath/complete.c has its way back. */
#include <linux/blk-integrity.h>
#include <linux/blk-mq.h>
#include <linux/srcu.h>
#include "core/ctrl.h"
#include "core/direct.h"
#include "core/queue.h"
#include "core/subsys.h"
#include "core/trace.h"
#include "core/transport.h"
#include "mpath/choose.h"
#include "mpath/complete.h"
#include "mpath/hctx.h"
#include "mpath/head.h"
#include "mpath/park.h"
#include "mpath/path.h"
#include "mpath/request.h"
#include "mpath/requeue.h"
#include "mpath/retry.h"
#include "mpath/selector.h"
#include "mpath/zones.h"

/*
 * A request goes to the queue of its hardware context. One that sits in a polled context but has lost its polled mark
 * takes a queue that interrupts: nobody would poll for it.
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

/* A set that follows from the end of a queue is there by then */
#define NEXT_SET	msecs_to_jiffies(100)

/* How often it is looked whether passthrough has waited for long enough */
#define PASSTHROUGH_LOOK	HZ

static void request_begin_wait(struct nof_head *head, struct nof_request *req)
{
	if (req->waiting)
		return;
	req->waiting = true;
	atomic_inc(&head->waiting);
	atomic_inc(&head->subsys->waiting);
}

/* Into blk-mq's requeue list, where a set published after @seq has kicked already what it found */
static void requeue_to_wait(struct nof_head *head, struct request *rq, unsigned int seq)
{
	bool passthrough = blk_rq_is_passthrough(rq);
	struct request_queue *q = nof_request_keep_queue(rq);

	blk_mq_requeue_request(rq, false);
	/* once it is on the list: a look that was due before would find nothing */
	if (passthrough)
		nof_head_again(head, PASSTHROUGH_LOOK);
	/* a set published after we looked kicked a list that we were not on yet */
	smp_mb();
	if (READ_ONCE(head->set_seq) != seq)
		blk_mq_kick_requeue_list(q);
	nof_request_let_queue_go(q);
}

/*
 * Waits in blk-mq's requeue list, or parked, until a path set has a path, or none that may come back. Bios that cannot
 * wait any more come to @late.
 */
static blk_status_t wait_for_path(struct nof_head *head, struct request *rq, bool may_wait, unsigned int seq,
				  struct list_head *late)
{
	struct nof_request *req = blk_mq_rq_to_pdu(rq);
	bool passthrough = blk_rq_is_passthrough(rq);
	LIST_HEAD(parked);

	if (!may_wait || (passthrough && (req->hasty || !nof_request_in_time(rq))))
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

/* Requests of this batch may have gone to other paths, which still hold theirs back. */
static void commit_all(struct nof_subsys *s, const struct nof_path_set *set, const struct blk_mq_hw_ctx *hctx)
{
	struct nof_hctx *held = hctx->driver_data;
	struct nof_ctrl_map *map;
	u16 i;

	WRITE_ONCE(held->held, false);
	smp_mb();
	for (i = 0; i < set->nr_all; i++) {
		struct nof_ctrl *ctrl = set->paths[i]->ctrl;

		map = srcu_dereference(ctrl->map, &s->srcu);
		if (map)
			ctrl->transport->commit(map->queues[hctx->queue_num]);
	}
}

/* Counted, and known to a selector that wants to know */
static __always_inline void request_started(struct nof_path *path, struct request *rq, const bool odd)
{
	struct nof_subsys *s = path->head->subsys;
	u16 gen = smp_load_acquire(&s->selector_gen);
	const struct nof_selector *selector = srcu_dereference(s->selector, &s->srcu);
	struct nof_request *req = blk_mq_rq_to_pdu(rq);

	if (odd && req->left) {
		if (req->moved && req->left != path->ctrl->id)
			this_cpu_inc(path->stats->failovers_to);
		req->left = 0;
		req->again_at = 0;
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

/* @odd: it may be unusual in some way, see struct nof_request; else nothing is tested that only those need */
static __always_inline blk_status_t request_send(struct nof_head *head, struct nof_path *path, struct request *rq,
						 bool last, const bool odd)
{
	struct nof_request *req = blk_mq_rq_to_pdu(rq);
	struct nof_subsys *s = head->subsys;
	struct nof_ctrl *ctrl = path->ctrl;
	struct nof_ctrl_map *map = srcu_dereference(ctrl->map, &s->srcu);
	bool fallback = needs_fallback(s, rq);
	struct nof_queue *queue;
	blk_status_t ret;
	int err;

	/* gone since the set was published: a new one is on its way */
	if (unlikely(!map))
		return BLK_STS_RESOURCE;
	queue = queue_of(s, map, rq, fallback);
	/* what it is, or, when that is in doubt, what its zone says of it */
	if (odd && req->zone)
		ret = nof_zone_ask(head, req, path->nsid) ? BLK_STS_RESOURCE : BLK_STS_OK;
	else
		ret = nof_sqe_setup(path, rq, &req->cmd);
	if (unlikely(ret != BLK_STS_OK))
		return ret;
	req->path = path;
	err = nof_queue_add(queue, &req->cmd);
	if (unlikely(err)) {
		nof_zone_forget(req);
		if (err == -EOPNOTSUPP)
			return BLK_STS_NOTSUPP;
		if (err == -EIO)
			return BLK_STS_IOERR;
		if (err == -EBUSY || err == -EAGAIN)
			nof_queue_starve(queue, &nof_hctx_of(rq)->starved, err);
		return BLK_STS_RESOURCE;
	}
	request_started(path, rq, odd);
	/* commit_all() looks at the context's own queue */
	ctrl->transport->queue_cmd(queue, &req->cmd, last || fallback);
	return BLK_STS_OK;
}

/* Its data are where the path gets at them, and the path can take its protection information */
static bool path_reaches(const struct nof_path *path, struct request *rq)
{
	if (unlikely(blk_integrity_rq(rq)) && !nof_sqe_takes_pi(path, rq))
		return false;
	return !static_branch_unlikely(&nof_direct_key) || nof_direct_reaches_all(path->ctrl) ||
	       nof_direct_reaches(path->ctrl, nof_direct_of(rq));
}

static bool path_can_carry(const struct nof_path *path, struct request *rq)
{
	return (likely(!READ_ONCE(path->unfit)) || nof_path_can(path, rq)) && path_reaches(path, rq);
}

/* This path, another, or NULL: where the request is not too much for it. Data that none reaches are refused later. */
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
 * Data in other devices' memory that the path does not reach: the application is told, and does it in another way. What
 * would wait for a path that does could wait for long. Bios with the memory of several devices that the block layer has
 * joined to one request part again.
 */
static blk_status_t check_direct_data(const struct nof_path *path, struct request *rq, bool *parted,
				      struct list_head *late)
{
	struct nof_request *req = blk_mq_rq_to_pdu(rq);
	LIST_HEAD(list);
	unsigned int what;

	/* most are: their pages are not looked at */
	if (blk_rq_nr_phys_segments(rq) <= 1 && !req->gpu && nof_direct_reaches_all(path->ctrl))
		return BLK_STS_OK;
	what = nof_direct_of(rq);
	/* who knows what is behind its pages has left since */
	if (req->gpu && !(what & NOF_DIRECT_GPU))
		return BLK_STS_IOERR;
	req->gpu = what & NOF_DIRECT_GPU;
	if (!nof_direct_reaches(path->ctrl, what))
		return BLK_STS_NOTSUPP;
	if (likely(!(what & NOF_DIRECT_MIXED)))
		return BLK_STS_OK;
	if (rq->bio == rq->biotail || !nof_park_apart(rq, &list))
		return BLK_STS_NOTSUPP;
	nof_park_wait(&list, NULL, late);
	*parted = true;
	return BLK_STS_OK;
}

/* Passthrough for one controller takes no other's path. NULL: that one has none now. */
static struct nof_path *find_ctrl_path(const struct nof_path_set *set, u32 ctrl_id)
{
	u16 i;

	for (i = 0; i < set->nr_usable; i++)
		if (set->paths[i]->ctrl->id == ctrl_id)
			return set->paths[i];
	return NULL;
}

/* Requeues a request whose retry delay has not elapsed, even if the list was kicked for another reason */
static bool wait_retry_delay(struct nof_head *head, const struct nof_path *path, struct request *rq)
{
	struct nof_request *req = blk_mq_rq_to_pdu(rq);
	unsigned long at = req->again_at;
	struct request_queue *q;

	if (!at || (path->ctrl->id != req->left && !req->told_when) || time_after_eq(jiffies, at))
		return false;
	nof_request_clear_marks(rq);
	q = nof_request_keep_queue(rq);
	blk_mq_requeue_request(rq, false);
	nof_head_again(head, max_t(long, at - jiffies, 1));
	nof_request_let_queue_go(q);
	return true;
}

static bool path_is_dead(const struct nof_path *path, const struct request *rq)
{
	struct nof_subsys *s = path->head->subsys;
	const struct nof_ctrl_map *map = srcu_dereference(path->ctrl->map, &s->srcu);

	return !map || !nof_queue_live(queue_of(s, map, rq, needs_fallback(s, rq)));
}

/*
 * The path has gone since the set was published: the next set, which is on its way or there already, is waited for. A
 * request that finds no room is blk-mq's, which would try this one again after some ms.
 */
static blk_status_t wait_for_next(struct nof_head *head, const struct nof_path_set *set, struct request *rq,
				  unsigned int seq, struct list_head *late)
{
	struct request_queue *q = nof_request_keep_queue(rq);
	blk_status_t ret = wait_for_path(head, rq, set->may_wait, seq, late);

	if (ret == BLK_STS_OK)
		nof_head_again(head, NEXT_SET);
	nof_request_let_queue_go(q);
	return ret == BLK_STS_OK ? BLK_STS_OK : BLK_STS_RESOURCE;
}

/* This path has no room, or cannot carry the data, or has gone: another one takes the request, or it waits. */
static noinline blk_status_t send_elsewhere(struct nof_head *head, const struct nof_path_set *set,
					    struct nof_path *path, struct request *rq, bool last, unsigned int seq,
					    blk_status_t ret, struct list_head *late)
{
	struct nof_request *req = blk_mq_rq_to_pdu(rq);
	struct nof_path *other = NULL;

	nof_choose_undo(path, rq);
	/* to one controller: it may not leave that */
	if (set->nr_usable > 1 && !req->bound)
		other = nof_choose_other(set, path->ctrl->id, rq);
	if (other && path_can_carry(other, rq))
		ret = request_send(head, other, rq, last, true);
	if (ret == BLK_STS_RESOURCE && path_is_dead(path, rq))
		ret = wait_for_next(head, set, rq, seq, late);
	return ret;
}

/* Whether something has to be looked at that most requests do not have; then submit_odd() does */
static bool request_is_odd(const struct nof_request *req, const struct nof_path *path, struct request *rq)
{
	return req->odd || READ_ONCE(path->unfit) || blk_integrity_rq(rq) || static_branch_unlikely(&nof_direct_key);
}

/* @path: as chosen; NULL: there is none */
static noinline blk_status_t submit_odd(struct nof_head *head, const struct nof_path_set *set, struct nof_path *path,
					struct request *rq, bool last, unsigned int seq, struct list_head *late)
{
	struct nof_request *req = blk_mq_rq_to_pdu(rq);
	blk_status_t ret = BLK_STS_OK;
	bool parted = false;

	if (path && req->left)
		path = nof_choose_again(set, path, req->left, rq);
	if (path)
		path = choose_capable(set, path, rq);
	if (set && req->bound)
		path = find_ctrl_path(set, req->only);
	/* its fence has ended: it ends, too */
	if (req->lost)
		return BLK_STS_TRANSPORT;
	if (!path)
		return wait_for_path(head, rq, set && set->may_wait, seq, late);
	/* A kick of the requeue list sends all that is in it, and a request has few tries: it waits for the ANA log */
	if (req->left && nof_ana_refuses(path))
		return wait_for_path(head, rq, true, seq, late);
	if (req->waiting)
		nof_request_end_wait(head, req);
	if (req->left && wait_retry_delay(head, path, rq))
		return BLK_STS_OK;
	if (static_branch_unlikely(&nof_direct_key))
		ret = check_direct_data(path, rq, &parted, late);
	if (ret != BLK_STS_OK || parted) {
		nof_choose_undo(path, rq);
		return ret;
	}
	ret = request_send(head, path, rq, last, true);
	return ret == BLK_STS_OK ? ret : send_elsewhere(head, set, path, rq, last, seq, ret, late);
}

/*
 * After a request was queued, or not: the task that clears the mark submits the pending batch. What this batch has held
 * back may be with a path that the last request did not take, as the set has changed, or with the polled queue of a
 * context whose last request was not polled.
 */
static void hold_or_commit(struct nof_subsys *s, const struct nof_path_set *set, const struct blk_mq_hw_ctx *hctx,
			   bool last)
{
	struct nof_hctx *held = hctx->driver_data;

	if (!last)
		WRITE_ONCE(held->held, true);
	else if (unlikely(READ_ONCE(held->held)) && set)
		commit_all(s, set, hctx);
}

/* At the first try of the request; what was parked goes on with the tries that it has had */
static void request_init(struct request *rq)
{
	struct nof_request *req = blk_mq_rq_to_pdu(rq);

	rq->rq_flags |= RQF_DONTPREP;
	req->odd = 0;
	req->bound = blk_rq_is_passthrough(rq) && req->only;
	memset(&req->past, 0, sizeof(req->past));
	memset(&req->tries, 0, sizeof(req->tries));
	req->again_at = 0;
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
	/* pairs with the barrier in nof_head_publish(): a set older than seq is not seen with it */
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
		nof_request_settle(head, req);
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

		map = srcu_dereference(ctrl->map, &s->srcu);
		if (map && test_bit(NOF_Q_POLLED, &map->queues[hctx]->flags))
			found += ctrl->transport->poll(map->queues[hctx], &done);
	}
	srcu_read_unlock(&s->srcu, idx);
	nof_completed_end(&done);
	return found;
}

static int poll(struct blk_mq_hw_ctx *hctx, struct io_comp_batch *iob)
{
	return nof_head_poll(hctx->queue->queuedata, hctx->queue_num, iob);
}

const struct blk_mq_ops nof_mq_ops = {
	.init_hctx	= nof_hctx_init,
	.exit_hctx	= nof_hctx_exit,
	.queue_rq	= queue_rq,
	.commit_rqs	= commit_rqs,
	.complete	= nof_request_end,
	.timeout	= nof_request_timeout,
	.poll		= poll,
	.map_queues	= nof_hctx_map,
};
