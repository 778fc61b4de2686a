/* SPDX-License-Identifier: GPL-2.0-only */
/* How much of the time between two looks of a watch speaks of the peer. Pure: tested in userspace. */
#ifndef NOF_CORE_WATCH_STEP_H
#define NOF_CORE_WATCH_STEP_H

#include <linux/types.h>

/* Milliseconds: from one look to the next, and the least that one counts */
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
