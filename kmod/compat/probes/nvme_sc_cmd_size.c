// SPDX-License-Identifier: GPL-2.0-only
/* status 183h under its present name */
#include <linux/nvme.h>

int probe(void);
int probe(void)
{
	return NVME_SC_CMD_SIZE_LIM_EXCEEDED;
}
