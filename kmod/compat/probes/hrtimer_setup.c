// SPDX-License-Identifier: GPL-2.0-only
/* one call initialises an hrtimer and sets its function */
#include <linux/hrtimer.h>

void probe(struct hrtimer *t, enum hrtimer_restart (*f)(struct hrtimer *));
void probe(struct hrtimer *t, enum hrtimer_restart (*f)(struct hrtimer *))
{
	hrtimer_setup(t, f, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
}
