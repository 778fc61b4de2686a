// SPDX-License-Identifier: GPL-2.0-only
/* io_uring commands have their own header and carry their submission queue entry */
#include <linux/io_uring/cmd.h>

const void *probe(struct io_uring_cmd *cmd);
const void *probe(struct io_uring_cmd *cmd)
{
	return io_uring_sqe_cmd(cmd->sqe);
}
