// SPDX-License-Identifier: GPL-2.0-only
/* masks for the parts of an NVMe status */
#include <linux/nvme.h>

#ifdef SPELLING_PRESENT
int probe(int status);
int probe(int status)
{
	return (status & NVME_SCT_MASK) == NVME_SCT_PATH ? NVME_SCT_GENERIC : (status & NVME_SC_MASK);
}
#endif

#ifdef SPELLING_ABSENT
enum { NVME_SCT_MASK, NVME_SCT_PATH, NVME_SCT_GENERIC, NVME_SC_MASK };
#endif
