/* SPDX-License-Identifier: GPL-2.0-only */
/* What is told of disks and their paths, in the background: none usable any more, fewer than were connected for */
#ifndef NOF_MPATH_EVENTS_H
#define NOF_MPATH_EVENTS_H

#include <linux/list.h>
#include <linux/types.h>
#include <uapi/linux/nvmeof.h>

struct nof_ctrl;
struct nof_head;
struct nof_path;
struct nof_subsys;

/**
 * struct nof_path_alerts - of a head: what has been told; under subsys->lock
 * @none_told:	no path is usable
 * @none_since:	CLOCK_BOOTTIME, ns, since when
 * @fewer_told:	fewer paths are live than are expected
 */
struct nof_path_alerts {
	bool	none_told;
	bool	fewer_told;
	u64	none_since;
};

/* struct nof_pending_events - of a head or path: those not sent yet, by enum nvmeof_event; under subsys->lock */
struct nof_pending_events {
	struct list_head	entry;
	u32			events;
};

/*
 * @nr_live: paths whose controller is live; @nr_expected: the same if all its controllers, and those that were not live
 * so far, were. Context: process; takes subsys->lock
 */
void nof_head_count_paths(struct nof_head *head, u32 *nr_live, u32 *nr_expected);
/* A new path set is published; caller holds subsys->lock. Told in the background: recovery is not held up. */
void nof_head_review_paths(struct nof_head *head);
/* The controller's state says something else of what is expected of it. Process context. */
void nof_ctrl_update_expected(struct nof_ctrl *ctrl);
/* It is LOST, and its paths are about to go: their disks expect them until a scan has told what it has. As above. */
void nof_ctrl_paths_lost(struct nof_ctrl *ctrl);
/* The disk, which has no path, expects one of @ctrl, which was LOST, and of no other. Caller holds subsys->lock. */
bool nof_head_waits_only_for(const struct nof_head *head, const struct nof_ctrl *ctrl);
/* Likewise: each kind of event once, however often it came meanwhile; none of a path that has not been shown yet. */
void nof_head_event_later(struct nof_head *head, enum nvmeof_event event);
void nof_path_event_later(struct nof_path *path, enum nvmeof_event event);
/* Nothing is told any more of what has left its list, nor is it held. Context: process, sleeps; no subsys->lock */
void nof_events_flush(struct nof_subsys *s);
void nof_events_init(struct nof_subsys *s);
/* With the subsystem: nobody else has it. */
void nof_events_exit(struct nof_subsys *s);

#endif
