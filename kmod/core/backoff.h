/* SPDX-License-Identifier: GPL-2.0-only */
/* Delay before the next attempt, and time that a look of the watch counts. Pure logic, also compiled in userspace. */
#ifndef NOF_CORE_BACKOFF_H
#define NOF_CORE_BACKOFF_H

#include <linux/types.h>

#define NOF_BACKOFF_FIRST_MS	100

/**
 * nof_backoff_ms() - exponential back-off with jitter
 * @attempt:	0 for the first retry; the step doubles with each
 * @max_ms:	upper limit of the step
 * @random:	any value, evenly distributed: hosts that lost the same target at the same time must not reconnect in
 *		step
 * Returns a delay between half the step and the step, in ms.
 */
u32 nof_backoff_ms(u32 attempt, u32 max_ms, u32 random);

#define NOF_FLAP_MS		10000

/*
 * Returns how many connections in a row were live for less than NOF_FLAP_MS, including the last one, which was live for
 * @live_ms. Each counts as a failed attempt, so that a flapping path is used less and less.
 */
u32 nof_backoff_flaps(u32 flaps, u32 live_ms);

/* For the watch (core/stall_watch.c), in milliseconds: interval between looks, and the least that a look counts */
#define NOF_WATCH_INTERVAL	20
#define NOF_WATCH_STEP_MIN	2
/* An idle machine runs timers and work queues with less delay than this */
#define NOF_WATCH_LATE		10

/* Time in ms that a look counts, @elapsed ms after the last one: all of it if on time, less the later it is */
static inline u32 nof_watch_step(u32 elapsed)
{
	u32 late = elapsed > NOF_WATCH_INTERVAL ? elapsed - NOF_WATCH_INTERVAL : 0;

	if (late <= NOF_WATCH_LATE)
		return elapsed;
	return late < NOF_WATCH_INTERVAL - NOF_WATCH_STEP_MIN ? NOF_WATCH_INTERVAL - late : NOF_WATCH_STEP_MIN;
}

#endif
