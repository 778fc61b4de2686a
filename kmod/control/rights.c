// SPDX-License-Identifier: GPL-2.0-only
#include <linux/bits.h>
#include <linux/blkdev.h>
#include <linux/capability.h>
#include <linux/nvme.h>
#include <linux/nvme_ioctl.h>
#include <linux/sizes.h>
#include "control/rights.h"
#include "mpath/head.h"

#define CNS_MASK	0xff
/*
 * Maximum data of an admin command, which needs contiguous memory. Log pages and firmware images can be transferred in
 * parts.
 */
#define MAX_ADMIN_DATA	SZ_1M

/* Bit of an opcode: data is transferred from the controller (NVMe Base 2.0, figure 87) */
#define FROM_CONTROLLER	BIT(1)

/*
 * True if no privilege is needed: the Commands Supported and Effects log has the command as supported and without
 * harmful effects, and the mode of the file permits it. Never on a partition, whose bounds are not checked here.
 */
static bool io_is_open(const struct nof_caller *who, const struct nof_head *head, u8 opcode)
{
	u8 effects = READ_ONCE(head->effects.of[opcode]);

	if (who->partition || (opcode & FROM_CONTROLLER && !who->may_read))
		return false;
	return effects & (who->may_write ? NOF_EFFECT_WRITER_OK : NOF_EFFECT_READER_OK);
}

/* True for Identify of this namespace and of its controller: a program needs them to build read and write commands. */
static bool admin_is_open(const struct nof_caller *who, const struct nof_head *head,
			  const struct nvme_passthru_cmd64 *p)
{
	if (who->partition || p->opcode != nvme_admin_identify)
		return false;
	switch (p->cdw10 & CNS_MASK) {
	case NVME_ID_CNS_NS:
	case NVME_ID_CNS_CS_NS:
	case NVME_ID_CNS_NS_CS_INDEP:
		return p->nsid == head->nsid;
	case NVME_ID_CNS_CTRL:
	case NVME_ID_CNS_CS_CTRL:
		return !p->nsid || p->nsid == head->nsid;
	default:
		return false;
	}
}

/* Without an audit record: nothing is refused if the capability is missing. */
static bool is_privileged(void)
{
	return ns_capable_noaudit(&init_user_ns, CAP_SYS_ADMIN);
}

int nof_rights_check_io(const struct nof_caller *who, const struct nof_head *head, const struct nvme_passthru_cmd64 *p,
			struct nof_grant *grant)
{
	if (!io_is_open(who, head, p->opcode) && !capable(CAP_SYS_ADMIN))
		return -EACCES;
	*grant = (struct nof_grant){
		.max_bytes = queue_max_hw_sectors(head->disk->queue) << SECTOR_SHIFT,
		.timeout_ms = p->timeout_ms && is_privileged() ? p->timeout_ms : 0,
	};
	return 0;
}

int nof_rights_check_admin(const struct nof_caller *who, const struct nof_head *head,
			   const struct nvme_passthru_cmd64 *p, struct nof_grant *grant)
{
	bool open = head && admin_is_open(who, head, p);

	if (!open && !capable(CAP_SYS_ADMIN))
		return -EACCES;
	if (open && !is_privileged())
		*grant = (struct nof_grant){ .user = NOF_ADMIN_UNPRIVILEGED, .max_bytes = NVME_IDENTIFY_DATA_SIZE };
	else
		*grant = (struct nof_grant){
			.user		= NOF_ADMIN_USER,
			.max_bytes	= MAX_ADMIN_DATA,
			.timeout_ms	= p->timeout_ms,
		};
	return 0;
}

bool nof_rights_may_configure(void)
{
	return capable(CAP_NET_ADMIN) && capable(CAP_SYS_ADMIN);
}
