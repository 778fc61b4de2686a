/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Requests that wait without a tag: those of a disk that has no path, or whose writes a fence holds, would else take
 * all the tags there are from the disks beside it.
 */
#ifndef NOF_MPATH_PARK_H
#define NOF_MPATH_PARK_H

#include <linux/blk-mq.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>

struct nof_head;

/* Of one head. @lock protects @list, of bios that are sent again with the next path set; @closed: or never */
struct nof_parking {
	spinlock_t		lock;
	struct list_head	list;
	bool			closed;
	struct work_struct	work;
};

void nof_park_init(struct nof_head *head);
/* The disk takes no I/O any more: what is parked ends with an error. Process context, sleeps. */
void nof_park_exit(struct nof_head *head);
/*
 * Ends the request, and puts what was in it on @list, which the caller protects from everybody else: false when it has
 * to keep its tag (passthrough, a step of a flush, no memory), or few do so that wait. Nothing may touch it afterwards.
 * Any context.
 */
bool nof_park(struct request *rq, struct list_head *list);
/* However few wait: its bios become requests of their own, which the block layer does not join again */
bool nof_park_apart(struct request *rq, struct list_head *list);
/* Of what a fence has on @list, that of @head (of any, if NULL) comes to @to: so many requests. Under fence_lock. */
u32 nof_park_pick(struct list_head *list, const struct nof_head *head, struct list_head *to);
/*
 * What was parked waits for the next path set of its head from now on, or tries the one that is there: unless that is
 * the one with @seq, where it has found no path. @seq is NULL for what has not looked. Of disks that take no I/O any
 * more it comes to @late, for nof_park_fail(). Any context.
 */
void nof_park_wait(struct list_head *list, const unsigned int *seq, struct list_head *late);
/* It ends, with an error. Context: as nof_completed_end(). */
void nof_park_fail(struct list_head *list);
/* There is a new path set: they try it. Any context. */
void nof_park_kick(struct nof_head *head);
/* What the last kick has begun is done: they are requests again. Context: process, sleeps. */
void nof_park_flush(struct nof_head *head);
/* Of a bio that is or was parked: marks it as such */
void nof_parked_end_io(struct bio *bio);
/* A request made of what was parked, see nof_parked(), goes on as the one that it was. Any context. */
void nof_park_resume(struct request *rq);

static inline bool nof_parked(const struct request *rq)
{
	return rq->bio && rq->bio->bi_end_io == nof_parked_end_io;
}

#endif
