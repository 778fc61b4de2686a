// SPDX-License-Identifier: GPL-2.0-only
/* sizes of C2HTermReq PDUs */
#include <linux/nvme-tcp.h>

#ifdef SPELLING_PRESENT
int probe(void);
int probe(void)
{
	return NVME_TCP_MIN_C2HTERM_PLEN + NVME_TCP_MAX_C2HTERM_PLEN;
}
#endif

#ifdef SPELLING_ABSENT
enum { NVME_TCP_MIN_C2HTERM_PLEN, NVME_TCP_MAX_C2HTERM_PLEN };
#endif
