// SPDX-License-Identifier: GPL-2.0-only
/* function of an hrtimer */
#include <linux/hrtimer.h>

#ifdef SPELLING_SETUP
void probe(struct hrtimer *t, enum hrtimer_restart (*f)(struct hrtimer *));
void probe(struct hrtimer *t, enum hrtimer_restart (*f)(struct hrtimer *))
{
	hrtimer_setup(t, f, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
}
#endif

#ifdef SPELLING_MEMBER
void probe(struct hrtimer *t, enum hrtimer_restart (*f)(struct hrtimer *));
void probe(struct hrtimer *t, enum hrtimer_restart (*f)(struct hrtimer *))
{
	hrtimer_init(t, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	t->function = f;
}
#endif
