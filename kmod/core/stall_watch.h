/* SPDX-License-Identifier: GPL-2.0-only */
/* Detects live controllers that do not respond while commands are outstanding. */
#ifndef NOF_CORE_STALL_WATCH_H
#define NOF_CORE_STALL_WATCH_H

#include "core/ctrl.h"
#include "core/queue.h"

void nof_watch_init(struct nof_ctrl *ctrl);
/* The watch does not run from here on, until nof_watch_kick() on a LIVE controller. Context: process, sleeps. */
void nof_watch_stop(struct nof_ctrl *ctrl);

#endif
