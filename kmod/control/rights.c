// SPDX-License-Identifier: GPL-2.0-only
#include <linux/blkdev.h>
#include <linux/capability.h>
#include <linux/nvme.h>
#include <linux/nvme_ioctl.h>
#include "control/rights.h"
#include "mpath/head.h"

#define CNS_MASK	0xff

/* What makes zones what they are to others is what their own ioctls do, for who may write */
static bool may_zoned(const struct nof_caller *who, u8 opcode)
{
	switch (opcode) {
	case nvme_cmd_zone_mgmt_recv:
		return who->may_read;
	case nvme_cmd_zone_mgmt_send:
	case nvme_cmd_zone_append:
		return who->may_write;
	default:
		return false;
	}
}

/*
 * What the owner of the open file could do with read(), write() and the disk's own ioctls as well. Not on a partition,
 * whose bounds nobody checks here, and nothing of the vendor's. A list, and not the controller's log of effects: that
 * is what a target says of itself.
 */
bool nof_caller_may_io(const struct nof_caller *who, const struct nof_head *head, u8 opcode)
{
	if (capable(CAP_SYS_ADMIN))
		return true;
	if (who->partition)
		return false;
	switch (opcode) {
	case nvme_cmd_read:
	case nvme_cmd_compare:
	case nvme_cmd_verify:
		return who->may_read;
	case nvme_cmd_write:
	case nvme_cmd_write_zeroes:
	case nvme_cmd_dsm:
	case nvme_cmd_flush:
		return who->may_write;
	default:
		return head->format.zone_blocks && may_zoned(who, opcode);
	}
}

/* Who is to make reads and writes has to know the format: Identify Namespace, of this one, tells no more than sysfs */
bool nof_caller_may_admin(const struct nof_caller *who, const struct nof_head *head,
			  const struct nvme_passthru_cmd64 *p)
{
	if (capable(CAP_SYS_ADMIN))
		return true;
	if (who->partition || !who->may_read || p->opcode != nvme_admin_identify || p->nsid != head->nsid)
		return false;
	switch (p->cdw10 & CNS_MASK) {
	case NVME_ID_CNS_NS:
	case NVME_ID_CNS_CS_NS:
		return true;
	default:
		return false;
	}
}
