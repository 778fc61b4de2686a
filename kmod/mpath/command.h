/* SPDX-License-Identifier: GPL-2.0-only */
/* Commands of the driver's own to a namespace: requests of its disk, which find a path, or wait for one. */
#ifndef NOF_MPATH_COMMAND_H
#define NOF_MPATH_COMMAND_H

#include <linux/nvme.h>
#include "mpath/head.h"

/**
 * struct nof_command - one of them
 * @sqe:	without data pointer, identifier and NSID
 * @buf:	data, kmalloc'ed; @len bytes, a multiple of 4
 * @write:	they go to the controller
 * @again:	whether it is sent again when it is lost or comes back with an error
 * @hasty:	fails where there is no path, and waits for none
 */
struct nof_command {
	struct nvme_command	sqe;
	void			*buf;
	u32			len;
	bool			write;
	bool			hasty;
	enum nof_again		again;
};

/*
 * Returns 0, an NVMe status, or a negative errno: -ENOLINK where there is no path; with NOF_AGAIN_UNSENT -ESTALE: its
 * connection was lost, it may have been executed, and its fence has ended.
 * Context: process, sleeps.
 */
int nof_command_exec(struct nof_head *head, const struct nof_command *cmd);

#endif
