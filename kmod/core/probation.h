/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Probation of controllers that are lost repeatedly: when it begins, which requests are trials, and what ends it. Pure
 * logic, also compiled in userspace. Times are jiffies, given by the caller.
 */
#ifndef NOF_CORE_PROBATION_H
#define NOF_CORE_PROBATION_H

#include <linux/atomic.h>
#include <linux/types.h>

#define NOF_PROBATION_LOSSES	3
#define NOF_PROBATION_SOON	(60 * HZ)	/* a loss this soon after LIVE counts */
#define NOF_PROBATION_RELAPSE	(600 * HZ)	/* a loss this soon after probation starts it again */
#define NOF_PROBATION_READS	4		/* read trials before the first write */
#define NOF_PROBATION_TRIALS	8		/* this many answered in a row end the probation */
#define NOF_PROBATION_WAIT	HZ		/* how long to wait for the kind that is due */
#define NOF_PROBATION_TRIAL_MS	2000U		/* no other trial during this time */
#define NOF_PROBATION_INTERVAL_MS	1000U		/* interval between trials; doubled by each further loss */
#define NOF_PROBATION_MAX_INTERVAL_MS 30000U

/**
 * struct nof_probation - probation of a controller
 * @on:		on probation: while another path works, it gets trials only; written under subsys->lock
 * @losses:	consecutive losses, each soon after the controller became live
 * @since:	time of the first of these losses, or when the probation began, was prolonged, or ended
 * @interval_ms: interval between trials; 0 before the first probation
 * @next_trial:	earliest time of the next trial, on any CPU
 * @answered:	consecutive trials that the controller answered
 */
struct nof_probation {
	bool		on;
	u32		losses;
	unsigned long	since;
	u32		interval_ms;
	unsigned long	next_trial;
	atomic_t	answered;
};

/* Consequence of a loss */
enum nof_loss {
	NOF_LOSS_NOTED,
	NOF_LOSS_BEGINS,	/* the NOF_PROBATION_LOSSES-th loss: on probation */
	NOF_LOSS_RELAPSE,	/* soon after a probation: on probation again */
	NOF_LOSS_PROLONGS,	/* already on probation: the interval between trials grows */
};

/* Accounts the loss of an association that became live at @live_at. Caller serializes. */
enum nof_loss nof_probation_loss(struct nof_probation *p, unsigned long now, unsigned long live_at);
/* True if this request, a read or a write, is the next trial: for only one of concurrent callers. Any context. */
bool nof_probation_trial_begin(struct nof_probation *p, unsigned long now, bool read);
/* The trial could not be sent: the next request may be the trial. Any context. */
void nof_probation_trial_cancel(struct nof_probation *p, unsigned long now);
/* A trial completed, @answered by the controller. True if it is the one that ends the probation. Any context. */
bool nof_probation_trial_end(struct nof_probation *p, unsigned long now, bool answered);
/* Ends the probation. Caller serializes. */
void nof_probation_end(struct nof_probation *p, unsigned long now);

#endif
