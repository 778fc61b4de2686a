/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Paths that are alive but much worse than their peers: left out, probed, taken back (policy value degrade); and those
 * that complete nothing.
 */
#ifndef NOF_MPATH_HEALTH_H
#define NOF_MPATH_HEALTH_H

#include <linux/atomic.h>
#include <linux/types.h>
#include "mpath/latency.h"

struct nof_ctrl;
struct nof_path;
struct nof_subsys;
struct request;

#define NOF_PROBE_MS	50	/* between the requests that a degraded path gets */

/**
 * struct nof_health - what health.c remembers of a path
 * @ios, @faults: counters of the path as they were when it was last looked at
 * @done, @failed: what they rose by in the current window of errors, which began at @window
 * @mean:	latency by class over the hardware contexts that used it lately, ns; 0: unknown
 * @limit:	up to which a probe is good, ns; 0: none
 * @need:	good probes in a row that it takes to return
 * @bad:	looks in a row at which it was an outlier
 * @ready:	there was enough new on it at the look going on
 * @known:	some of @mean
 * @good:	probes in a row that were good; raised in completions
 * @probed:	jiffies when a request was last back from the degraded path
 * @since:	jiffies when it was degraded or taken back
 */
struct nof_health {
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

void nof_health_init(struct nof_subsys *s);
/* The policy value degrade has changed: begins, or ends and takes every path back. Under subsys->lock. */
void nof_health_update(struct nof_subsys *s);
/* No look is running or will be. Process context, sleeps, without subsys->lock. */
void nof_health_exit(struct nof_subsys *s);
/* A request on a degraded path is back, after @ns; @good: without error. Softirq or process context */
void nof_health_probed(struct nof_path *path, const struct request *rq, u64 ns, bool good);
/* Does an error status speak against the path that it came by, rather than against the request or the namespace? */
bool nof_health_fault(u16 status);

/* Probation, of a controller that is lost again and again. Its association is lost; under subsys->lock */
void nof_probation_lost(struct nof_ctrl *ctrl);
/* @rq is the next trial: the caller sends it to @ctrl. SRCU read side */
bool nof_probation_takes(struct nof_ctrl *ctrl, const struct request *rq);
/* A request on the controller is back. Softirq or process context */
void nof_probation_tried(struct nof_ctrl *ctrl, bool answered);

/* All as in struct nof_mpath_ops. Context: process, takes subsys->lock. */
bool nof_stall_elsewhere(struct nof_ctrl *ctrl);
bool nof_stall_all_elsewhere(struct nof_ctrl *ctrl);
const char *nof_stall_verdict(struct nof_ctrl *ctrl, bool alone);

#endif
