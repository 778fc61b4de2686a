// SPDX-License-Identifier: GPL-2.0-only
/* nvme_is_write() and nvme_is_fabrics() take a constant command */
#include <linux/nvme.h>

bool probe(const struct nvme_command *cmd);
bool probe(const struct nvme_command *cmd)
{
	return nvme_is_write(cmd);
}
