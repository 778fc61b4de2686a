/* SPDX-License-Identifier: GPL-2.0-only */
/* How long to wait before the next attempt. Pure logic, also compiled in userspace. */
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

#endif
