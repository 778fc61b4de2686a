/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Waiting without a tag. Otherwise the requests of a disk without a path, or with writes held by a fence, would take
 * all tags from the other disks of the subsystem.
 */
#ifndef NOF_MPATH_PARK_H
#define NOF_MPATH_PARK_H

#include <linux/blk-mq.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>

struct nof_head;

/*
 * Parked bios of a head. @lock protects @list, which @work submits again, and @closed: the disk accepts no I/O.
 * @hooked: bios whose bi_end_io is nof_parked_end_io().
 */
struct nof_parking {
	spinlock_t		lock;
	struct list_head	list;
	bool			closed;
	atomic_t		hooked;
	struct work_struct	work;
};

void nof_park_init(struct nof_head *head);
/* The disk takes no I/O any more: fails all parked bios. Process context, sleeps. */
void nof_park_exit(struct nof_head *head);
/*
 * Moves the bios of the request to @list, which is private to the caller, and ends the request, which must not be used
 * afterwards. False if it has to keep its tag (passthrough, flush step, zoned disk, no memory), or if only few requests
 * wait with a tag. Any context.
 */
bool nof_park(struct request *rq, struct list_head *list);
/*
 * Likewise, however few requests wait. The bios become separate requests, which blk-mq does not merge again. If the
 * request remains as it is: BLK_STS_NOTSUPP if it has to keep its tag, BLK_STS_RESOURCE without memory.
 */
blk_status_t nof_park_split(struct request *rq, struct list_head *list);
/* Moves bios of @head (NULL: all) from a fence's @list to @to. Returns how many requests. Under fence_lock. */
u32 nof_park_move(struct list_head *list, const struct nof_head *head, struct list_head *to);
/*
 * Makes the bios on @list wait for the next path set of their head. Submits them at once if the present set is not the
 * one with number *seq, in which they found no path, or if @seq is NULL. Bios whose disk takes no I/O any more move to
 * @late, for nof_park_fail(). Any context.
 */
void nof_park_wait(struct list_head *list, const unsigned int *seq, struct list_head *late);
/* Fails the bios. Context: as nof_completed_end(). */
void nof_park_fail(struct list_head *list);
/* A new path set was published: submits the parked bios. Any context. */
void nof_park_kick(struct nof_head *head);
/* Waits until the bios of the last kick were submitted. Context: process, sleeps. */
void nof_park_flush(struct nof_head *head);
/* bi_end_io of a parked bio, until a request for it is dispatched; identifies it as such */
void nof_parked_end_io(struct bio *bio);
/* True if a request of several bios carries a parked one. Any context. */
bool nof_park_merged(const struct request *rq);
/*
 * At the first dispatch of a request with a parked bio, see nof_parked(): it inherits the retry state of its
 * predecessor, and its bios are no longer parked. Any context.
 */
void nof_park_resume(struct request *rq);

static inline bool nof_parked(const struct request *rq)
{
	if (unlikely(rq->bio != rq->biotail))
		return nof_park_merged(rq);
	return rq->bio && rq->bio->bi_end_io == nof_parked_end_io;
}

#endif
