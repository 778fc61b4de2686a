// SPDX-License-Identifier: GPL-2.0-only
/* status of a reservation conflict */
#include <linux/blk_types.h>

#ifdef SPELLING_RESV
blk_status_t probe(void);
blk_status_t probe(void)
{
	return BLK_STS_RESV_CONFLICT;
}
#endif

#ifdef SPELLING_NEXUS
blk_status_t probe(void);
blk_status_t probe(void)
{
	return BLK_STS_NEXUS;
}
#endif
