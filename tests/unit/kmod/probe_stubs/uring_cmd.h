/* SPDX-License-Identifier: LGPL-2.1-or-later */

#ifdef STUB_SQE128
struct io_uring_sqe {
	u8 cmd[16];
};

struct io_uring_cmd {
	const struct io_uring_sqe *sqe;
};

#define io_uring_sqe128_cmd(sqe, type) ((const type *)(sqe)->cmd)
#define io_uring_sqe_cmd(sqe, type) ((const type *)(sqe)->cmd)
#endif

#ifdef STUB_SQE
struct io_uring_sqe {
	u8 cmd[16];
};

struct io_uring_cmd {
	const struct io_uring_sqe *sqe;
};

static inline const void *io_uring_sqe_cmd(const struct io_uring_sqe *sqe)
{
	return sqe->cmd;
}
#endif

#ifdef STUB_CMD
struct io_uring_cmd {
	const void *cmd;
};
#endif
