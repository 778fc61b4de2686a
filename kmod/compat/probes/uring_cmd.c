// SPDX-License-Identifier: GPL-2.0-only
/* payload of a command of io_uring */
#include <linux/uio.h>
#if __has_include(<linux/io_uring/cmd.h>)
#include <linux/io_uring/cmd.h>
#else
#include <linux/io_uring.h>
#endif

#ifdef SPELLING_SQE128	/* of a ring with large submission queue entries */
const u64 *probe(const struct io_uring_cmd *cmd);
const u64 *probe(const struct io_uring_cmd *cmd)
{
	return io_uring_sqe128_cmd(cmd->sqe, u64);
}
#endif

#ifdef SPELLING_SQE
const void *probe(const struct io_uring_cmd *cmd);
const void *probe(const struct io_uring_cmd *cmd)
{
	return io_uring_sqe_cmd(cmd->sqe);
}
#endif

#ifdef SPELLING_CMD
const void *probe(const struct io_uring_cmd *cmd);
const void *probe(const struct io_uring_cmd *cmd)
{
	return cmd->cmd;
}
#endif
