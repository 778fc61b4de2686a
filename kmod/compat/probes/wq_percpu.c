// SPDX-License-Identifier: GPL-2.0-only
/* work queues bound to CPUs */
#include <linux/workqueue.h>

#ifdef SPELLING_FLAG	/* by a flag */
int probe(void);
int probe(void)
{
	return WQ_PERCPU;
}
#endif

#ifdef SPELLING_DEFAULT
enum { WQ_PERCPU };
#endif
