/* SPDX-License-Identifier: GPL-2.0-only */
/* What a caller without CAP_SYS_ADMIN may send through an open file of a disk, its node or its generic node. */
#ifndef NOF_CONTROL_RIGHTS_H
#define NOF_CONTROL_RIGHTS_H

#include <linux/types.h>

struct nof_ctrl;
struct nof_head;
struct nvme_passthru_cmd64;

/**
 * struct nof_caller - through what somebody comes
 * @may_read, @may_write: what the file was opened for
 * @partition:	it is a partition of the disk
 * @ctrl:	by whose node it comes, NULL for a disk's
 */
struct nof_caller {
	bool			may_read;
	bool			may_write;
	bool			partition;
	const struct nof_ctrl	*ctrl;
};

bool nof_caller_may_io(const struct nof_caller *who, const struct nof_head *head, u8 opcode);
bool nof_caller_may_admin(const struct nof_caller *who, const struct nof_head *head,
			  const struct nvme_passthru_cmd64 *p);

#endif
