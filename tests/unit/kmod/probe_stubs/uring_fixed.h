/* SPDX-License-Identifier: LGPL-2.1-or-later */
struct io_uring_cmd;
struct iov_iter;

enum { ITER_DEST };

#ifdef STUB_FLAGS
int io_uring_cmd_import_fixed(u64 addr, unsigned long len, int rw, struct iov_iter *iter, struct io_uring_cmd *cmd,
			      unsigned int flags);
#endif

#ifdef STUB_PLAIN
int io_uring_cmd_import_fixed(u64 addr, unsigned long len, int rw, struct iov_iter *iter, void *cmd);
#endif
