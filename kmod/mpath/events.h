/* SPDX-License-Identifier: GPL-2.0-only */
/* Events of disks and paths, sent in the background, and alerts: no usable path, fewer paths than expected */
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
 * struct nof_path_alerts - alerts of a head that were sent; under subsys->lock
 * @none_alerted:	no path is usable
 * @no_path_since:	CLOCK_BOOTTIME, ns, since when
 * @fewer_alerted:	fewer paths are live than are expected
 */
struct nof_path_alerts {
	bool	none_alerted;
	bool	fewer_alerted;
	u64	no_path_since;
};

/* struct nof_pending_events - events of a head or path not sent yet, bits by enum nvmeof_event; under subsys->lock */
struct nof_pending_events {
	struct list_head	entry;
	u32			events;
};

/*
 * @nr_live: paths whose controller is live; @nr_expected: paths if all controllers were live that have a path to the
 * head or are expected to have one. Context: process; takes subsys->lock
 */
void nof_head_count_paths(struct nof_head *head, u32 *nr_live, u32 *nr_expected);
/* Checks the alerts after a new path set, in the background: recovery does not wait. Caller holds subsys->lock. */
void nof_head_review_paths(struct nof_head *head);
/* Rechecks the alerts of all heads after a change of the controller's state or a scan. Process context. */
void nof_ctrl_update_expected(struct nof_ctrl *ctrl);
/*
 * The controller is LOST, and its paths are about to be removed: their disks expect them until a scan has succeeded.
 * Process context.
 */
void nof_ctrl_paths_lost(struct nof_ctrl *ctrl);
/* The disk, which has no path, expects one of @ctrl, which was LOST, and of no other. Caller holds subsys->lock. */
bool nof_head_waits_only_for(const struct nof_head *head, const struct nof_ctrl *ctrl);
/*
 * Send an event in the background: each kind once, however often it was queued meanwhile; none of a path that is not in
 * sysfs yet. Caller holds subsys->lock.
 */
void nof_head_event_later(struct nof_head *head, enum nvmeof_event event);
void nof_path_event_later(struct nof_path *path, enum nvmeof_event event);
/*
 * Waits until no event is being sent, and no reference held, for an object that was removed from its list. Context:
 * process, sleeps; no subsys->lock
 */
void nof_events_flush(struct nof_subsys *s);
void nof_events_init(struct nof_subsys *s);
/* The subsystem is freed: its last reference is gone. */
void nof_events_exit(struct nof_subsys *s);

#endif
