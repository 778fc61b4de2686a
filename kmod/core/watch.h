/* SPDX-License-Identifier: GPL-2.0-only */
/* Whether a connected controller still shows life while something is outstanding. */
#ifndef NOF_CORE_WATCH_H
#define NOF_CORE_WATCH_H

#include "core/ctrl.h"
#include "core/queue.h"
#include "core/watch_step.h"

void nof_watch_init(struct nof_ctrl *ctrl);
/* Slow half of nof_watch_kick(). Any context, SRCU read side. */
void nof_watch_begin(struct nof_queue *queue);
/* No look is running or will be, until the next kick of a LIVE controller. Process context, sleeps. */
void nof_watch_stop(struct nof_ctrl *ctrl);

/* Something is outstanding, as its count already says. On the hot path: a read of what hardly ever changes. */
static inline void nof_watch_kick(struct nof_queue *queue)
{
	if (unlikely(!READ_ONCE(queue->watched)))
		nof_watch_begin(queue);
}

#endif
