/* SPDX-License-Identifier: GPL-2.0-only */
/* What is told of the paths that a disk has: none usable any more, fewer than were connected for. */
#ifndef NOF_MPATH_NOTICE_H
#define NOF_MPATH_NOTICE_H

#include <linux/types.h>

struct nof_ctrl;
struct nof_head;
struct nof_subsys;

/**
 * struct nof_notice - of a head; written under subsys->lock
 * @nr_live:	paths whose controller is live
 * @nr_expected: the same if all its controllers, and those that were not live so far, were
 * @none:	no path is usable; @none_told: that this is so has been told
 * @fewer:	@nr_live is less than @nr_expected; @fewer_told likewise
 * @none_since:	CLOCK_BOOTTIME, ns, of what @none_told is about
 */
struct nof_notice {
	u32	nr_live;
	u32	nr_expected;
	bool	none;
	bool	none_told;
	bool	fewer;
	bool	fewer_told;
	u64	none_since;
};

/* A new path set is published; caller holds subsys->lock. Tells in the background: recovery is not held up. */
void nof_notice_head(struct nof_head *head);
/* The controller's state says something else of what is expected of it. Process context. */
void nof_notice_ctrl(struct nof_ctrl *ctrl);
void nof_notice_init(struct nof_subsys *s);
/* With the subsystem: nobody else has it. */
void nof_notice_exit(struct nof_subsys *s);

#endif
