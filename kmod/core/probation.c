// SPDX-License-Identifier: GPL-2.0-only
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include "core/probation.h"

enum nof_loss nof_probation_loss(struct nof_probation *p, unsigned long now, unsigned long live_at)
{
	bool soon = time_before(now, live_at + NOF_PROBATION_SOON);
	bool relapse = !p->on && p->interval_ms && time_before(now, p->since + NOF_PROBATION_RELAPSE);
	bool was_on = p->on;

	if (!was_on && !relapse) {
		p->interval_ms = 0;
		p->losses = soon ? p->losses + 1 : 0;
		if (p->losses == 1)
			p->since = now;
		if (p->losses < NOF_PROBATION_LOSSES)
			return NOF_LOSS_NOTED;
	}
	WRITE_ONCE(p->interval_ms,
		   p->interval_ms ? min(2 * p->interval_ms, NOF_PROBATION_MAX_INTERVAL_MS) : NOF_PROBATION_INTERVAL_MS);
	p->since = now;
	WRITE_ONCE(p->next_trial, now);
	atomic_set(&p->answered, 0);
	WRITE_ONCE(p->on, true);
	if (was_on)
		return NOF_LOSS_PROLONGS;
	return relapse ? NOF_LOSS_RELAPSE : NOF_LOSS_BEGINS;
}

/*
 * Reads come first, then writes. If no request of the kind that is due comes within NOF_PROBATION_WAIT, the other kind
 * is taken, so that a load of only reads or only writes can also end the probation.
 */
bool nof_probation_trial_begin(struct nof_probation *p, unsigned long now, bool read)
{
	bool reads = atomic_read(&p->answered) < NOF_PROBATION_READS;
	unsigned long at = READ_ONCE(p->next_trial), next;

	if (time_before(now, at) || (reads != read && time_before_eq(now, at + NOF_PROBATION_WAIT)))
		return false;
	next = now + msecs_to_jiffies(max(READ_ONCE(p->interval_ms), NOF_PROBATION_TRIAL_MS));
	return cmpxchg(&p->next_trial, at, next) == at;
}

void nof_probation_trial_cancel(struct nof_probation *p, unsigned long now)
{
	WRITE_ONCE(p->next_trial, now);
}

bool nof_probation_trial_end(struct nof_probation *p, unsigned long now, bool answered)
{
	WRITE_ONCE(p->next_trial, now + msecs_to_jiffies(READ_ONCE(p->interval_ms)));
	if (answered)
		return atomic_inc_return(&p->answered) == NOF_PROBATION_TRIALS;
	atomic_set(&p->answered, 0);
	return false;
}

void nof_probation_end(struct nof_probation *p, unsigned long now)
{
	p->since = now;
	p->losses = 0;
	WRITE_ONCE(p->on, false);
}
