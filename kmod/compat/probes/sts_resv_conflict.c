// SPDX-License-Identifier: GPL-2.0-only
/* BLK_STS_RESV_CONFLICT, which was BLK_STS_NEXUS */
#include <linux/blk_types.h>

blk_status_t probe(void);
blk_status_t probe(void)
{
	return BLK_STS_RESV_CONFLICT;
}
