// SPDX-License-Identifier: GPL-2.0-only
/* merging of requests */
#include <linux/blk-mq.h>

#ifdef SPELLING_ALWAYS
enum { BLK_MQ_F_SHOULD_MERGE };

int probe(void);
int probe(void)
{
	return BLK_MQ_F_NO_SCHED_BY_DEFAULT;
}
#endif

#ifdef SPELLING_FLAG	/* by a flag of the tag set */
int probe(void);
int probe(void)
{
	return BLK_MQ_F_SHOULD_MERGE;
}
#endif
