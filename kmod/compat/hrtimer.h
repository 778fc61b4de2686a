/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef NOF_COMPAT_HRTIMER_H
#define NOF_COMPAT_HRTIMER_H

#include <linux/hrtimer.h>

#if NOF_HAVE_HRTIMER_MEMBER
static inline void hrtimer_setup(struct hrtimer *timer, enum hrtimer_restart (*function)(struct hrtimer *),
				 clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}
#endif

#endif
