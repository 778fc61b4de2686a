// SPDX-License-Identifier: GPL-2.0-only
/* io_uring_cmd_import_fixed() */
#include <linux/uio.h>
#if __has_include(<linux/io_uring/cmd.h>)
#include <linux/io_uring/cmd.h>
#else
#include <linux/io_uring.h>
#endif

#ifdef SPELLING_FLAGS	/* takes the issue flags */
int probe(struct io_uring_cmd *cmd, struct iov_iter *iter);
int probe(struct io_uring_cmd *cmd, struct iov_iter *iter)
{
	return io_uring_cmd_import_fixed(0, 512, ITER_DEST, iter, cmd, 0);
}
#endif

#ifdef SPELLING_PLAIN
int probe(struct io_uring_cmd *cmd, struct iov_iter *iter);
int probe(struct io_uring_cmd *cmd, struct iov_iter *iter)
{
	return io_uring_cmd_import_fixed(0, 512, ITER_DEST, iter, cmd);
}
#endif
