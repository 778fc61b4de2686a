/* SPDX-License-Identifier: GPL-2.0-only */
/* Commands of io_uring, for the files that handle them. */
#ifndef NOF_COMPAT_URING_H
#define NOF_COMPAT_URING_H

#include <linux/uio.h>

#if NOF_HAVE_URING_CMD_SQE
#include <linux/io_uring/cmd.h>

static inline const void *nof_uring_payload(const struct io_uring_cmd *ioucmd)
{
	return io_uring_sqe_cmd(ioucmd->sqe);
}
#else
#include <linux/io_uring.h>

static inline const void *nof_uring_payload(const struct io_uring_cmd *ioucmd)
{
	return ioucmd->cmd;
}

#define io_uring_cmd_to_pdu(cmd, pdu_type)					\
({										\
	BUILD_BUG_ON(sizeof(pdu_type) > sizeof_field(struct io_uring_cmd, pdu));	\
	(pdu_type *)&(cmd)->pdu;						\
})

#define io_uring_cmd_do_in_task_lazy	io_uring_cmd_complete_in_task
#endif

#if !NOF_HAVE_IMPORT_UBUF
#include <linux/uaccess.h>

/* Sufficient to copy; older kernels cannot map the pages of such an iterator */
static inline int import_ubuf(int type, void __user *buf, size_t len, struct iov_iter *iter)
{
	if (len > MAX_RW_COUNT)
		len = MAX_RW_COUNT;
	if (!access_ok(buf, len))
		return -EFAULT;
	iov_iter_ubuf(iter, type, buf, len);
	return 0;
}
#endif

#endif
