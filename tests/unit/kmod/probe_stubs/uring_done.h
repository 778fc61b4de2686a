/* SPDX-License-Identifier: LGPL-2.1-or-later */
struct io_uring_cmd;

#ifdef STUB_DONE32
void io_uring_cmd_done(struct io_uring_cmd *cmd, int ret, unsigned int flags);
void io_uring_cmd_done32(struct io_uring_cmd *cmd, int ret, u64 res2, unsigned int flags);
#endif

#ifdef STUB_RES2
void io_uring_cmd_done(struct io_uring_cmd *cmd, ssize_t ret, ssize_t res2, unsigned int flags);
#endif
