// SPDX-License-Identifier: GPL-2.0-only
#include <linux/blk-mq.h>
#include <linux/delay.h>
#include <linux/part_stat.h>
#include <linux/slab.h>
#include "compat/blk.h"
#include "core/subsys.h"
#include "core/work.h"
#include "mpath/discard_ranges.h"
#include "mpath/failover_stats.h"
#include "mpath/head.h"
#include "mpath/park.h"
#include "mpath/request.h"
#include "mpath/requeue.h"

/**
 * struct nof_parked - a parked bio, until a later request that carries it is dispatched; bi_private of the bio
 * @entry:	in a list of waiting bios
 * @end_io, @private: the bio's original members
 * @past:	retry state of the request that was parked; only its first bio has the failover
 * @left_ctrl:	likewise, see struct nof_request
 * @first:	first bio of that request: represents it in the counts of waiting and held requests
 */
struct nof_parked {
	struct list_head	entry;
	struct nof_head		*head;
	struct bio		*bio;
	bio_end_io_t		*end_io;
	void			*private;
	struct nof_past		past;
	u32			left_ctrl;
	bool			first;
};

/* The bio has its own members again, so that it is completed like one that was never parked */
static void park_unhook(struct nof_parked *p)
{
	if (p->past.failover)
		nof_failover_end(p->head, &p->past);
	p->bio->bi_end_io = p->end_io;
	p->bio->bi_private = p->private;
	atomic_dec(&p->head->parking.hooked);
	kfree(p);
}

/*
 * The block layer ends the bio before a request is dispatched for it. The bio may be chained to another one, whose
 * bi_end_io only bio_endio() knows how to follow.
 */
void nof_parked_end_io(struct bio *bio)
{
	park_unhook(bio->bi_private);
	/* bio_endio(), which is the caller, has reported it to these, and does not clear their flags */
	bio_clear_flag(bio, BIO_QOS_THROTTLED);
	bio_clear_flag(bio, BIO_QOS_MERGED);
	bio_endio(bio);
}

/* NULL if the bio is not parked */
static struct nof_parked *of_bio(const struct bio *bio)
{
	return bio->bi_end_io == nof_parked_end_io ? bio->bi_private : NULL;
}

static void park_drop(struct list_head *fresh)
{
	struct nof_parked *p, *next;

	list_for_each_entry_safe(p, next, fresh, entry)
		kfree(p);
}

/* Allocates a struct nof_parked for each bio. On failure, frees them all. */
static bool park_prepare(const struct request *rq, struct list_head *fresh)
{
	struct nof_parked *p;
	struct bio *bio;

	__rq_for_each_bio(bio, rq) {
		p = kmalloc(sizeof(*p), GFP_NOWAIT | __GFP_NOWARN);
		if (!p) {
			park_drop(fresh);
			return false;
		}
		list_add(&p->entry, fresh);
	}
	return true;
}

static struct nof_parked *park_hook(struct bio *bio, struct nof_head *head, struct list_head *fresh)
{
	struct nof_parked *p = list_first_entry(fresh, struct nof_parked, entry);

	list_del(&p->entry);
	p->head = head;
	p->bio = bio;
	p->end_io = bio->bi_end_io;
	p->private = bio->bi_private;
	bio->bi_end_io = nof_parked_end_io;
	bio->bi_private = p;
	atomic_inc(&head->parking.hooked);
	return p;
}

/* A few waiting requests may keep their tags, so that a short wait shows as requests in flight */
static bool tags_are_scarce(struct nof_subsys *s)
{
	return atomic_read(&s->waiting) >= s->tags.queue_depth / 4;
}

/* Requests with block layer state (flush), an order (writes to zones) or an end_io callback keep their tag */
static bool may_park(const struct request *rq)
{
	return rq->bio && !rq->end_io && !blk_rq_is_passthrough((struct request *)rq) &&
	       !(rq->rq_flags & RQF_FLUSH_SEQ) && (!blk_queue_is_zoned(rq->q) || req_op(rq) == REQ_OP_READ);
}

/* Not counted as a completed I/O: the request that its bios become is counted */
static void end_uncounted(struct request *rq)
{
	struct block_device *part = rq->rq_flags & RQF_IO_STAT ? rq->part : NULL;
	int group = op_stat_group(req_op(rq));

	blk_mq_end_request(rq, BLK_STS_OK);
	if (!part)
		return;
	part_stat_lock();
	part_stat_add(part, ios[group], -1);
	part_stat_unlock();
}

static blk_status_t request_park(struct request *rq, struct list_head *list)
{
	struct nof_request *req = blk_mq_rq_to_pdu(rq);
	struct nof_head *head = rq->q->queuedata;
	struct bio_list bios = BIO_EMPTY_LIST;
	LIST_HEAD(fresh);
	struct nof_parked *p;
	struct bio *bio;
	bool first = true;

	if (!may_park(rq))
		return BLK_STS_NOTSUPP;
	if (!park_prepare(rq, &fresh))
		return BLK_STS_RESOURCE;
	nof_request_clear_marks(rq);
	blk_steal_bios(&bios, rq);
	while ((bio = bio_list_pop(&bios))) {
		p = park_hook(bio, head, &fresh);
		p->past = req->past;
		p->left_ctrl = req->left_ctrl;
		p->first = first;
		if (!first)
			p->past.failover = NULL;
		first = false;
		list_add_tail(&p->entry, list);
	}
	req->failover = NULL;
	if (req->ranges)
		nof_ranges_put(req);
	end_uncounted(rq);
	return BLK_STS_OK;
}

bool nof_park(struct request *rq, struct list_head *list)
{
	const struct nof_head *head = rq->q->queuedata;

	return tags_are_scarce(head->subsys) && request_park(rq, list) == BLK_STS_OK;
}

blk_status_t nof_park_split(struct request *rq, struct list_head *list)
{
	blk_status_t ret = request_park(rq, list);
	struct nof_parked *p;

	list_for_each_entry(p, list, entry)
		p->bio->bi_opf |= REQ_NOMERGE;
	return ret;
}

u32 nof_park_move(struct list_head *list, const struct nof_head *head, struct list_head *to)
{
	struct nof_parked *p, *next;
	u32 nr = 0;

	list_for_each_entry_safe(p, next, list, entry) {
		if (head && p->head != head)
			continue;
		list_move_tail(&p->entry, to);
		if (!p->first)
			continue;
		WRITE_ONCE(p->head->held, p->head->held - 1);
		nr++;
	}
	return nr;
}

void nof_park_fail(struct list_head *list)
{
	struct nof_parked *p, *next;

	list_for_each_entry_safe(p, next, list, entry) {
		struct bio *bio = p->bio;

		list_del(&p->entry);
		park_unhook(p);
		bio->bi_status = BLK_STS_TRANSPORT;
		bio_endio(bio);
	}
}

/*
 * The outstanding bio keeps the disk open and thus the head. Once the lock is dropped, the bio may end and the head may
 * be freed.
 */
static void wait_one(struct nof_parked *p, const unsigned int *seq, struct list_head *late)
{
	struct nof_head *head = p->head;
	unsigned long flags;

	spin_lock_irqsave(&head->parking.lock, flags);
	if (head->parking.closed) {
		list_move_tail(&p->entry, late);
	} else {
		if (p->first)
			atomic_inc(&head->waiting);
		list_move_tail(&p->entry, &head->parking.list);
		/* a path set published since *seq may have kicked the list before the bio was on it */
		smp_mb();
		if (!seq || READ_ONCE(head->set_seq) != *seq)
			queue_work(nof_park_wq, &head->parking.work);
	}
	spin_unlock_irqrestore(&head->parking.lock, flags);
}

void nof_park_wait(struct list_head *list, const unsigned int *seq, struct list_head *late)
{
	struct nof_parked *p, *next;

	list_for_each_entry_safe(p, next, list, entry)
		wait_one(p, seq, late);
}

/* May wait for tags or for a frozen queue. Therefore only the removal of the disk may wait for this work. */
static void park_work(struct work_struct *work)
{
	struct nof_head *head = container_of(work, struct nof_head, parking.work);
	struct nof_parked *p, *next;
	LIST_HEAD(list);
	struct blk_plug plug;

	spin_lock_irq(&head->parking.lock);
	list_splice_init(&head->parking.list, &list);
	spin_unlock_irq(&head->parking.lock);
	blk_start_plug(&plug);
	list_for_each_entry_safe(p, next, &list, entry) {
		list_del(&p->entry);
		if (p->first)
			atomic_dec(&head->waiting);
		submit_bio_noacct(p->bio);
	}
	blk_finish_plug(&plug);
}

void nof_park_kick(struct nof_head *head)
{
	unsigned long flags;

	if (list_empty(&head->parking.list))
		return;
	spin_lock_irqsave(&head->parking.lock, flags);
	if (!head->parking.closed)
		queue_work(nof_park_wq, &head->parking.work);
	spin_unlock_irqrestore(&head->parking.lock, flags);
}

bool nof_park_merged(const struct request *rq)
{
	const struct nof_head *head = rq->q->queuedata;
	const struct bio *bio;

	if (!atomic_read(&head->parking.hooked))
		return false;
	__rq_for_each_bio(bio, rq)
		if (of_bio(bio))
			return true;
	return false;
}

/* Bios of several parked requests can be merged: the new request has the worst of their histories */
static void park_inherit(struct nof_request *req, struct nof_parked *p)
{
	struct nof_past *past = &p->past;

	if (!req->failover) {
		req->failover = past->failover;
		req->first_ns = past->first_ns;
		past->failover = NULL;
	}
	if (time_before(past->since, req->since))
		req->since = past->since;
	if (past->losses && (!req->losses || time_before(past->lost_at, req->lost_at)))
		req->lost_at = past->lost_at;
	req->retries = max(req->retries, past->retries);
	req->losses = max(req->losses, past->losses);
	req->timeouts = max(req->timeouts, past->timeouts);
	req->path_failed |= past->path_failed;
	req->gpu |= past->gpu;
	req->left_ctrl = req->left_ctrl ?: p->left_ctrl;
}

void nof_park_resume(struct request *rq)
{
	struct nof_request *req = blk_mq_rq_to_pdu(rq);
	struct nof_parked *p;
	struct bio *bio;

	__rq_for_each_bio(bio, rq) {
		p = of_bio(bio);
		if (!p)
			continue;
		park_inherit(req, p);
		park_unhook(p);
	}
}

void nof_park_init(struct nof_head *head)
{
	spin_lock_init(&head->parking.lock);
	atomic_set(&head->parking.hooked, 0);
	INIT_LIST_HEAD(&head->parking.list);
	INIT_WORK(&head->parking.work, park_work);
}

void nof_park_flush(struct nof_head *head)
{
	flush_work(&head->parking.work);
}

void nof_park_exit(struct nof_head *head)
{
	LIST_HEAD(list);
	struct nof_parked *p;

	/* from here on, wait_one() fails bios and queues no work */
	spin_lock_irq(&head->parking.lock);
	head->parking.closed = true;
	list_splice_init(&head->parking.list, &list);
	spin_unlock_irq(&head->parking.lock);
	cancel_work_sync(&head->parking.work);
	list_for_each_entry(p, &list, entry)
		if (p->first)
			atomic_dec(&head->waiting);
	nof_park_fail(&list);
	/* a teardown may still end bios that it has taken from requests, and report their failover */
	while (atomic_read(&head->parking.hooked))
		usleep_range(900, 1100);
}
