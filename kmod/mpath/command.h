/* SPDX-License-Identifier: GPL-2.0-only */
/* The driver's own I/O commands: requests of the disk's queue, which choose a path or wait for one. */
#ifndef NOF_MPATH_COMMAND_H
#define NOF_MPATH_COMMAND_H

#include <linux/nvme.h>
#include "mpath/request.h"

/**
 * struct nof_command - an I/O command of the driver
 * @sqe:	without data pointer, command identifier and NSID
 * @buf:	data, kmalloc'ed; @len bytes, a multiple of 4
 * @write:	data goes from host to controller
 * @retry:	whether it is retried after a loss or an error
 * @no_wait:	fails if there is no usable path, instead of waiting for one
 */
struct nof_command {
	struct nvme_command	sqe;
	void			*buf;
	u32			len;
	bool			write;
	bool			no_wait;
	enum nof_cmd_retry	retry;
};

/*
 * Returns 0, an NVMe status, or a negative errno. -ENOLINK: no usable path. -ESTALE, with NOF_CMD_RETRY_UNSENT only:
 * the connection was lost, the command may have been executed, and its fence has ended.
 * Context: process, sleeps.
 */
int nof_command_exec(struct nof_head *head, const struct nof_command *cmd);

#endif
