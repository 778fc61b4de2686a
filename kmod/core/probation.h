/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * When a controller that is lost again and again is put on probation, which requests try it then, and what ends that.
 * Pure logic, also compiled in userspace. Times are jiffies, given by the caller.
 */
#ifndef NOF_CORE_PROBATION_H
#define NOF_CORE_PROBATION_H

#include <linux/atomic.h>
#include <linux/types.h>

#define NOF_PROBATION_LOSSES	3
#define NOF_PROBATION_SOON	(60 * HZ)	/* after it became live */
#define NOF_PROBATION_RELAPSE	(600 * HZ)	/* after its probation */
#define NOF_PROBATION_READS	4		/* before the first write is risked */
#define NOF_PROBATION_TRIALS	8		/* answered in a row, they end it */
#define NOF_PROBATION_WAIT	HZ		/* for a request of the kind that is due */
#define NOF_PROBATION_TRIAL_MS	2000U		/* one at a time, as long as it does not take longer */
#define NOF_PROBATION_GAP_MS	1000U		/* from one trial to the next; doubled by each further loss */
#define NOF_PROBATION_MAX_GAP_MS 30000U

/**
 * struct nof_probation - of a controller
 * @on:		it gets a request now and then while other paths work; written under subsys->lock
 * @losses:	in a row, each soon after the controller had become live
 * @since:	when the first of them was; when the probation began, was prolonged, or ended
 * @gap_ms:	from one trial to the next; 0 before the first probation
 * @at:		there is no trial before, over all CPUs
 * @good:	trials in a row that were answered
 */
struct nof_probation {
	bool		on;
	u32		losses;
	unsigned long	since;
	u32		gap_ms;
	unsigned long	at;
	atomic_t	good;
};

/* Consequence of a loss */
enum nof_loss {
	NOF_LOSS_NOTED,
	NOF_LOSS_BEGINS,	/* the last of NOF_PROBATION_LOSSES: on probation */
	NOF_LOSS_RELAPSE,	/* soon after its probation: on probation again */
	NOF_LOSS_PROLONGS,	/* on probation already: trials are further apart */
};

/* An association that became live at @live_at is lost. Caller serializes. */
enum nof_loss nof_probation_loss(struct nof_probation *p, unsigned long now, unsigned long live_at);
/* True if this request, a read or a write, is the next trial. Any context; only one of several callers wins. */
bool nof_probation_take(struct nof_probation *p, unsigned long now, bool read);
/* The request that won could not be sent: the next one may be the trial. Any context. */
void nof_probation_give_back(struct nof_probation *p, unsigned long now);
/* A request completed, @answered by the controller. True for the answer that ends the probation. Any context. */
bool nof_probation_trial(struct nof_probation *p, unsigned long now, bool answered);
/* The controller is used as before. Caller serializes. */
void nof_probation_end(struct nof_probation *p, unsigned long now);

#endif
