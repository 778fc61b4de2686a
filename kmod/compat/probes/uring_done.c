// SPDX-License-Identifier: GPL-2.0-only
/* completion of a command of io_uring, with a 64-bit result */
#include <linux/uio.h>
#if __has_include(<linux/io_uring/cmd.h>)
#include <linux/io_uring/cmd.h>
#else
#include <linux/io_uring.h>
#endif

#ifdef SPELLING_DONE32
void probe(struct io_uring_cmd *cmd, u64 result);
void probe(struct io_uring_cmd *cmd, u64 result)
{
	io_uring_cmd_done32(cmd, 0, result, 0);
}
#endif

#ifdef SPELLING_RES2
void probe(struct io_uring_cmd *cmd, u64 result);
void probe(struct io_uring_cmd *cmd, u64 result)
{
	io_uring_cmd_done(cmd, 0, result, 0);
}
#endif
