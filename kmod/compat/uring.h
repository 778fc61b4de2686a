/* SPDX-License-Identifier: GPL-2.0-only */
/* Commands of io_uring, for the files that handle them. */
#ifndef NOF_COMPAT_URING_H
#define NOF_COMPAT_URING_H

#include <linux/blk-mq.h>
#include <linux/uio.h>
#if NOF_HAVE_URING_CMD_CMD
#include <linux/io_uring.h>
#else
#include <linux/io_uring/cmd.h>
#endif

#if NOF_HAVE_URING_CMD_SQE
#define io_uring_sqe128_cmd(sqe, pdu_type)	((const pdu_type *)io_uring_sqe_cmd(sqe))
#endif

/* Returns the payload, of @pdu_type, of a command whose ring has large submission queue entries */
#if NOF_HAVE_URING_CMD_CMD
#define nof_uring_payload(ioucmd, pdu_type)	((const pdu_type *)(ioucmd)->cmd)
#else
#define nof_uring_payload(ioucmd, pdu_type)	io_uring_sqe128_cmd((ioucmd)->sqe, pdu_type)
#endif

#if NOF_HAVE_URING_PDU_MEMBER
#define io_uring_cmd_to_pdu(cmd, pdu_type)					\
({										\
	BUILD_BUG_ON(sizeof(pdu_type) > sizeof_field(struct io_uring_cmd, pdu));	\
	(pdu_type *)&(cmd)->pdu;						\
})
#endif

#if NOF_HAVE_URING_DONE_RES2
#define io_uring_cmd_done32	io_uring_cmd_done
#endif

#if NOF_HAVE_URING_FIXED_PLAIN
#define io_uring_cmd_import_fixed(addr, len, rw, iter, ioucmd, issue_flags)	\
	io_uring_cmd_import_fixed(addr, len, rw, iter, ioucmd)
#endif

/* Defines @name, for io_uring_cmd_do_in_task_lazy(), which calls @work(ioucmd, issue_flags) */
#if NOF_HAVE_URING_TASK_WORK_REQUEST
#define NOF_DEFINE_URING_TASK_WORK(name, work)					\
static void name(struct io_tw_req req, io_tw_token_t tw)			\
{										\
	work(io_uring_cmd_from_tw(req), IO_URING_CMD_TASK_WORK_ISSUE_FLAGS);	\
}
#else
#define NOF_DEFINE_URING_TASK_WORK(name, work)					\
static void name(struct io_uring_cmd *ioucmd, unsigned int issue_flags)		\
{										\
	work(ioucmd, issue_flags);						\
}
#endif

#if NOF_HAVE_URING_TASK_WORK_COMPLETE
#define io_uring_cmd_do_in_task_lazy	io_uring_cmd_complete_in_task
#endif

/* Parameters of a function of type rq_end_io_fn */
#if NOF_HAVE_END_IO_BATCH
#define NOF_END_IO_PARAMS(rq, sts)	struct request *rq, blk_status_t sts, const struct io_comp_batch *iob
#else
#define NOF_END_IO_PARAMS(rq, sts)	struct request *rq, blk_status_t sts
#endif

#if NOF_HAVE_IMPORT_UBUF_ABSENT
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
