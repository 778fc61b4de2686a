/* SPDX-License-Identifier: GPL-2.0-only */
/* What is told of disks and their paths, in the background: none usable any more, fewer than were connected for */
#ifndef NOF_MPATH_NOTICE_H
#define NOF_MPATH_NOTICE_H

#include <linux/list.h>
#include <linux/types.h>
#include <uapi/linux/nvmeof.h>

struct nof_ctrl;
struct nof_head;
struct nof_path;
struct nof_subsys;

/**
 * struct nof_notice - of a head: what has been told; under subsys->lock
 * @none_told:	no path is usable
 * @none_since:	CLOCK_BOOTTIME, ns, since when
 * @fewer_told:	fewer paths are live than are expected
 */
struct nof_notice {
	bool	none_told;
	bool	fewer_told;
	u64	none_since;
};

/* struct nof_news - of a head or path: @what is not told yet, a bit for each enum nvmeof_event; under subsys->lock */
struct nof_news {
	struct list_head	entry;
	u32			what;
};

/*
 * @nr_live: paths whose controller is live; @nr_expected: the same if all its controllers, and those that were not live
 * so far, were. Context: process; takes subsys->lock
 */
void nof_notice_count(struct nof_head *head, u32 *nr_live, u32 *nr_expected);
/* A new path set is published; caller holds subsys->lock. Told in the background: recovery is not held up. */
void nof_notice_head(struct nof_head *head);
/* The controller's state says something else of what is expected of it. Process context. */
void nof_notice_ctrl(struct nof_ctrl *ctrl);
/* It is LOST, and its paths are about to go: their disks expect them until a scan has told what it has. As above. */
void nof_notice_lost(struct nof_ctrl *ctrl);
/* The disk, which has no path, expects one of @ctrl, which was LOST, and of no other. Caller holds subsys->lock. */
bool nof_notice_waits_only_for(const struct nof_head *head, const struct nof_ctrl *ctrl);
/* Likewise: each kind of event once, however often it came meanwhile; none of a path that has not been shown yet. */
void nof_news_head(struct nof_head *head, enum nvmeof_event event);
void nof_news_path(struct nof_path *path, enum nvmeof_event event);
/* Nothing is told any more of what has left its list, nor is it held. Context: process, sleeps; no subsys->lock */
void nof_news_flush(struct nof_subsys *s);
void nof_news_init(struct nof_subsys *s);
/* With the subsystem: nobody else has it. */
void nof_news_exit(struct nof_subsys *s);

#endif
