// SPDX-License-Identifier: GPL-2.0-only
/* flags in an NVMe status */
#include <linux/nvme.h>

#ifdef SPELLING_STATUS_DNR
int probe(void);
int probe(void)
{
	return NVME_STATUS_DNR | NVME_STATUS_CRD | NVME_STATUS_MORE;
}
#endif

#ifdef SPELLING_SC_DNR
int probe(void);
int probe(void)
{
	return NVME_SC_DNR | NVME_SC_CRD | NVME_SC_MORE;
}
#endif
