// SPDX-License-Identifier: GPL-2.0-only
/* payload of a command of io_uring */
#include <linux/uio.h>

#ifdef SPELLING_SQE128	/* of a ring with large submission queue entries */
#include <linux/io_uring/cmd.h>

const u64 *probe(const struct io_uring_cmd *cmd);
const u64 *probe(const struct io_uring_cmd *cmd)
{
	return io_uring_sqe128_cmd(cmd->sqe, u64);
}
#endif

#ifdef SPELLING_SQE
#include <linux/io_uring/cmd.h>

const void *probe(const struct io_uring_cmd *cmd);
const void *probe(const struct io_uring_cmd *cmd)
{
	return io_uring_sqe_cmd(cmd->sqe);
}
#endif

#ifdef SPELLING_CMD
#include <linux/io_uring.h>

const void *probe(const struct io_uring_cmd *cmd);
const void *probe(const struct io_uring_cmd *cmd)
{
	return cmd->cmd;
}
#endif
