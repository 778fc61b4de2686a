/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Paths that work but are outliers among their peers: degraded, probed, restored (policy value degrade). Controllers on
 * probation, and controllers that complete no I/O.
 */
#ifndef NOF_MPATH_DEGRADE_H
#define NOF_MPATH_DEGRADE_H

#include <linux/atomic.h>
#include <linux/types.h>
#include "mpath/latency.h"

struct nof_ctrl;
struct nof_path;
struct nof_subsys;
struct request;

#define NOF_PROBE_MS	50	/* between two probes of a degraded path */

/**
 * struct nof_path_health - state of degrade.c for a path
 * @ios, @faults: counters of the path when they were last evaluated
 * @done, @failed: their increase in the current window, which began at @window
 * @mean:	average latency by class over the hardware contexts that used the path recently, ns; 0: unknown
 * @limit:	highest latency of a good probe, ns; 0: no limit
 * @need:	good probes in a row that restore the path
 * @bad:	evaluations in a row that found it slow
 * @ready:	the present evaluation has enough new I/Os to judge the path
 * @known:	some @mean is not 0
 * @good:	good probes in a row; updated by completions
 * @probed:	jiffies when a request last completed on the degraded path
 * @since:	jiffies when the path was degraded or restored
 */
struct nof_path_health {
	u64		ios;
	u64		faults;
	u32		done;
	u32		failed;
	unsigned long	window;
	u32		mean[NOF_LAT_CLASSES];
	u64		limit[NOF_LAT_CLASSES];
	u16		need;
	u8		bad;
	bool		ready;
	bool		known;
	atomic_t	good;
	unsigned long	probed;
	unsigned long	since;
};

void nof_degrade_init(struct nof_subsys *s);
/* Applies policy value degrade: starts the work, or restores every degraded path. Under subsys->lock. */
void nof_degrade_update(struct nof_subsys *s);
/* Cancels the work. Process context, sleeps, without subsys->lock. */
void nof_degrade_exit(struct nof_subsys *s);
/* A request on a degraded path has completed after @ns; @good: without error. Softirq or process context */
void nof_degrade_probed(struct nof_path *path, const struct request *rq, u64 ns, bool good);
/* True if an error status indicates a fault of the path rather than of the request or the namespace */
bool nof_degrade_fault(u16 status);

/* The association of @ctrl was lost: decides about probation. Under subsys->lock */
void nof_probation_lost(struct nof_ctrl *ctrl);
/* True if @rq is the next trial of a controller on probation: the caller has to submit it there. SRCU read side */
bool nof_probation_takes(struct nof_ctrl *ctrl, const struct request *rq);
/* A request on a controller on probation has completed. Softirq or process context */
void nof_probation_tried(struct nof_ctrl *ctrl, bool answered);

/* Callbacks of struct nof_mpath_ops. Context: process, takes subsys->lock. */
bool nof_ctrl_has_other_path(struct nof_ctrl *ctrl);
bool nof_ctrl_all_have_other_path(struct nof_ctrl *ctrl);
const char *nof_stall_reason(struct nof_ctrl *ctrl, bool alone);

#endif
