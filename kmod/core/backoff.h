/* SPDX-License-Identifier: GPL-2.0-only */
/* How long to wait before the next attempt, and how long a wait was. Pure logic, also compiled in userspace. */
#ifndef NOF_CORE_BACKOFF_H
#define NOF_CORE_BACKOFF_H

#include <linux/types.h>

#define NOF_BACKOFF_FIRST_MS	100

/**
 * nof_backoff_ms() - exponential back-off with jitter
 * @attempt:	0 for the first retry; the step doubles with each
 * @max_ms:	the step is never longer
 * @random:	any value, evenly distributed: hosts that lost the same target at the same time must not come back in
 *		step
 * Returns between half the step and the step.
 */
u32 nof_backoff_ms(u32 attempt, u32 max_ms, u32 random);

#define NOF_FLAP_MS		10000

/*
 * Losses in a row of connections that were live for less than NOF_FLAP_MS, after another one that lasted @live_ms. Each
 * counts as an attempt that failed: a path that comes and goes is used ever less.
 */
u32 nof_backoff_flaps(u32 flaps, u32 live_ms);

/* Of the watch (core/watch.c), in milliseconds: from one look to the next, and the least that one counts */
#define NOF_WATCH_LOOK		20
#define NOF_WATCH_STEP_MIN	2
/* More than timers and work queues take on a machine that has nothing else to do */
#define NOF_WATCH_LATE		10

/* What a look counts that comes @elapsed ms after the last: all of it on time, the less the later */
static inline u32 nof_watch_step(u32 elapsed)
{
	u32 late = elapsed > NOF_WATCH_LOOK ? elapsed - NOF_WATCH_LOOK : 0;

	if (late <= NOF_WATCH_LATE)
		return elapsed;
	return late < NOF_WATCH_LOOK - NOF_WATCH_STEP_MIN ? NOF_WATCH_LOOK - late : NOF_WATCH_STEP_MIN;
}

#endif
