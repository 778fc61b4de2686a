/* SPDX-License-Identifier: GPL-2.0-only */
/* Permissions and limits of passthrough commands: also those of a caller without CAP_SYS_ADMIN that has a disk open. */
#ifndef NOF_CONTROL_RIGHTS_H
#define NOF_CONTROL_RIGHTS_H

#include <linux/types.h>
#include "core/ctrl.h"

struct nof_head;
struct nvme_passthru_cmd64;

/**
 * struct nof_caller - the open file through which a command arrives
 * @may_read, @may_write: the file was opened for reading, for writing
 * @partition:	the file is a partition of the disk
 * @ctrl:	controller whose node the file is; NULL for the node of a disk
 */
struct nof_caller {
	bool			may_read;
	bool			may_write;
	bool			partition;
	const struct nof_ctrl	*ctrl;
};

/**
 * struct nof_grant - limits of a command
 * @user:	class of admin queue slots that an admin command takes
 * @max_bytes:	maximum data length
 * @timeout_ms:	timeout of the command; 0: the driver's default. Always 0 for an unprivileged caller: a short timeout
 *		would cost the target an Abort each time, a long one would defeat the limit
 */
struct nof_grant {
	enum nof_admin_user	user;
	u32		max_bytes;
	u32		timeout_ms;
};

/*
 * Return 0 and fill @grant if @who may send the command, else -EACCES. CAP_SYS_ADMIN is checked last, so that commands
 * which need no privilege leave no audit record. @head: NULL for an admin command at a controller's node.
 */
int nof_rights_check_io(const struct nof_caller *who, const struct nof_head *head, const struct nvme_passthru_cmd64 *p,
			struct nof_grant *grant);
int nof_rights_check_admin(const struct nof_caller *who, const struct nof_head *head,
			   const struct nvme_passthru_cmd64 *p, struct nof_grant *grant);

/* True if the caller may change a setting through sysfs: it needs the capabilities that netlink requires. */
bool nof_rights_may_configure(void);

#endif
