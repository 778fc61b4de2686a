// SPDX-License-Identifier: GPL-2.0-only
/* private area of a command of io_uring */
#include <linux/uio.h>
#if __has_include(<linux/io_uring/cmd.h>)
#include <linux/io_uring/cmd.h>
#else
#include <linux/io_uring.h>
#endif

#ifdef SPELLING_HELPER
u64 *probe(struct io_uring_cmd *cmd);
u64 *probe(struct io_uring_cmd *cmd)
{
	return io_uring_cmd_to_pdu(cmd, u64);
}
#endif

#ifdef SPELLING_MEMBER
void *probe(struct io_uring_cmd *cmd);
void *probe(struct io_uring_cmd *cmd)
{
	return cmd->pdu;
}
#endif
