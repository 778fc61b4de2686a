// SPDX-License-Identifier: GPL-2.0-only
/* status 183h */
#include <linux/nvme.h>

#ifdef SPELLING_PRESENT
int probe(void);
int probe(void)
{
	return NVME_SC_CMD_SIZE_LIM_EXCEEDED;
}
#endif

#ifdef SPELLING_ABSENT
enum { NVME_SC_CMD_SIZE_LIM_EXCEEDED };
#endif
