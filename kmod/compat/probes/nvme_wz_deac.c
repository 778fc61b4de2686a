// SPDX-License-Identifier: GPL-2.0-only
/* the Deallocate bit of Write Zeroes */
#include <linux/nvme.h>

#ifdef SPELLING_PRESENT
int probe(void);
int probe(void)
{
	return NVME_WZ_DEAC;
}
#endif

#ifdef SPELLING_ABSENT
enum { NVME_WZ_DEAC };
#endif
