/* SPDX-License-Identifier: GPL-2.0-only */
/* Whether a connected controller still shows life while something is outstanding. */
#ifndef NOF_CORE_WATCH_H
#define NOF_CORE_WATCH_H

#include "core/ctrl.h"
#include "core/queue.h"

void nof_watch_init(struct nof_ctrl *ctrl);
/* No look is running or will be, until the next kick of a LIVE controller. Process context, sleeps. */
void nof_watch_stop(struct nof_ctrl *ctrl);

#endif
