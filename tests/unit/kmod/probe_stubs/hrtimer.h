/* SPDX-License-Identifier: LGPL-2.1-or-later */
enum hrtimer_restart { HRTIMER_NORESTART };
enum hrtimer_mode { HRTIMER_MODE_REL };

#define CLOCK_MONOTONIC 1

#ifdef STUB_SETUP
struct hrtimer {
	int opaque;
};

void hrtimer_setup(struct hrtimer *timer, enum hrtimer_restart (*function)(struct hrtimer *), int clock,
		   enum hrtimer_mode mode);
#endif

#ifdef STUB_MEMBER
struct hrtimer {
	enum hrtimer_restart (*function)(struct hrtimer *);
};

void hrtimer_init(struct hrtimer *timer, int clock, enum hrtimer_mode mode);
#endif
