// SPDX-License-Identifier: GPL-2.0-only
/* nvme_is_write() and nvme_is_fabrics() */
#include <linux/nvme.h>

#ifdef SPELLING_CONST	/* take a constant command */
bool probe(const struct nvme_command *cmd);
bool probe(const struct nvme_command *cmd)
{
	return nvme_is_write(cmd) || nvme_is_fabrics(cmd);
}
#endif

#ifdef SPELLING_PLAIN
bool probe(struct nvme_command *cmd);
bool probe(struct nvme_command *cmd)
{
	return nvme_is_write(cmd) || nvme_is_fabrics(cmd);
}
#endif
