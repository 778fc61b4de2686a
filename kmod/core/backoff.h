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

#endif
