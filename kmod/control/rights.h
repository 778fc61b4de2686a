/* SPDX-License-Identifier: GPL-2.0-only */
/* What a caller without CAP_SYS_ADMIN may send through an open file of a disk, its node or its generic node. */
#ifndef NOF_CONTROL_RIGHTS_H
#define NOF_CONTROL_RIGHTS_H

#include <linux/types.h>
#include "core/ctrl.h"

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

/**
 * struct nof_grant - within what bounds a command is sent
 * @user:	whose slots of the admin queue an admin command takes
 * @max_bytes:	most data
 * @timeout_ms:	its own time limit; 0: the driver's. Without privilege nobody has one: a short one costs the target an
 *		Abort each time, a long one is a bound that is not there
 */
struct nof_grant {
	enum nof_admin_user	user;
	u32		max_bytes;
	u32		timeout_ms;
};

/*
 * Whether @who may send the command, by whichever way: 0 and @grant, or -EACCES. CAP_SYS_ADMIN is asked for last, so
 * that what is open to all leaves no record in the audit log. @head: NULL where the command is for a controller.
 */
int nof_caller_io(const struct nof_caller *who, const struct nof_head *head, const struct nvme_passthru_cmd64 *p,
		  struct nof_grant *grant);
int nof_caller_admin(const struct nof_caller *who, const struct nof_head *head, const struct nvme_passthru_cmd64 *p,
		     struct nof_grant *grant);

/* Whether the caller may change a setting through sysfs: it needs the privileges that netlink asks for */
bool nof_caller_may_set(void);

#endif
