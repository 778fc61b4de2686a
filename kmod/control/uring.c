// SPDX-License-Identifier: GPL-2.0-only
#include <linux/blk-mq.h>
#include <linux/nvme.h>
#include <linux/slab.h>
#include <linux/uio.h>
#include "compat/uring.h"
#include "control/passthru.h"
#include "control/rights.h"
#include "core/ctrl.h"
#include "core/subsys.h"
#include "mpath/complete.h"
#include "mpath/head.h"
#include "mpath/request.h"
#include "mpath/reserve.h"

/**
 * struct uring_io - state of an I/O command in the pdu of struct io_uring_cmd
 * @bio:	data to unmap
 * @result:	dwords 0 and 1 of the completion
 * @status:	return value of nof_request_status()
 * @hctx:	number of the request's hardware context
 */
struct uring_io {
	struct bio	*bio;
	u64		result;
	int		status;
	u32		hctx;
};

static struct uring_io *io_of(struct io_uring_cmd *ioucmd)
{
	return io_uring_cmd_to_pdu(ioucmd, struct uring_io);
}

/* The SQE is in memory that userspace can change: each field is read once, and only the copy is checked and used. */
static void get_uring_cmd(const struct io_uring_cmd *ioucmd, struct nvme_passthru_cmd64 *p)
{
	const struct nvme_uring_cmd *from = nof_uring_payload(ioucmd, struct nvme_uring_cmd);

	*p = (struct nvme_passthru_cmd64){
		.opcode		= READ_ONCE(from->opcode),
		.flags		= READ_ONCE(from->flags),
		.nsid		= READ_ONCE(from->nsid),
		.cdw2		= READ_ONCE(from->cdw2),
		.cdw3		= READ_ONCE(from->cdw3),
		.metadata	= READ_ONCE(from->metadata),
		.addr		= READ_ONCE(from->addr),
		.metadata_len	= READ_ONCE(from->metadata_len),
		.data_len	= READ_ONCE(from->data_len),
		.cdw10		= READ_ONCE(from->cdw10),
		.cdw11		= READ_ONCE(from->cdw11),
		.cdw12		= READ_ONCE(from->cdw12),
		.cdw13		= READ_ONCE(from->cdw13),
		.cdw14		= READ_ONCE(from->cdw14),
		.cdw15		= READ_ONCE(from->cdw15),
		.timeout_ms	= READ_ONCE(from->timeout_ms),
	};
}

/* The command does not fit into a smaller SQE, nor its result into a smaller CQE. */
static bool ring_fits(unsigned int issue_flags)
{
	return issue_flags & IO_URING_F_SQE128 && issue_flags & IO_URING_F_CQE32;
}

/*
 * Runs in the task that submitted the command, because blk_rq_unmap_user() copies bounced data to its memory. A polled
 * queue may be reaped by a task of another process.
 */
static void uring_io_end(struct io_uring_cmd *ioucmd, unsigned int issue_flags)
{
	struct uring_io *io = io_of(ioucmd);
	int err = io->bio ? blk_rq_unmap_user(io->bio) : 0;

	io_uring_cmd_done32(ioucmd, io->status ?: err, io->result, issue_flags);
}

NOF_DEFINE_URING_TASK_WORK(uring_io_end_work, uring_io_end)

static enum rq_end_io_ret uring_end_io(NOF_END_IO_PARAMS(rq, sts))
{
	struct nof_request *req = blk_mq_rq_to_pdu(rq);
	struct io_uring_cmd *ioucmd = rq->end_io_data;
	struct uring_io *io = io_of(ioucmd);

	nof_reserve_count_passthru(rq);
	io->status = nof_request_status(rq, sts);
	io->result = le64_to_cpu(req->cmd.result.u64);
	io_uring_cmd_do_in_task_lazy(ioucmd, uring_io_end_work);
	return RQ_END_IO_FREE;
}

/* The plug makes blk-mq dispatch the request in this context. Without it, blk-mq would wake a worker for that. */
static void uring_start(struct io_uring_cmd *ioucmd, struct request *rq)
{
	struct uring_io *io = io_of(ioucmd);
	struct blk_plug plug;

	io->bio = rq->bio;
	io->hctx = rq->mq_hctx->queue_num;
	rq->end_io = uring_end_io;
	rq->end_io_data = ioucmd;
	blk_start_plug(&plug);
	blk_execute_rq_nowait(rq, false);
	blk_finish_plug(&plug);
}

int nof_uring_io(struct io_uring_cmd *ioucmd, unsigned int issue_flags, struct nof_head *head,
		 const struct nof_caller *who)
{
	struct nvme_passthru_cmd64 p;
	struct nof_grant grant;
	struct nof_passthru_io io = { .p = &p, .grant = &grant };
	bool nowait = issue_flags & IO_URING_F_NONBLOCK;
	struct request *rq;
	int ret;

	if (!ring_fits(issue_flags))
		return -EOPNOTSUPP;
	if (ioucmd->cmd_op != NVME_URING_CMD_IO && ioucmd->cmd_op != NVME_URING_CMD_IO_VEC)
		return -ENOTTY;
	get_uring_cmd(ioucmd, &p);
	ret = nof_rights_check_io(who, head, &p, &grant);
	if (ret)
		return ret;
	io.vec = ioucmd->cmd_op == NVME_URING_CMD_IO_VEC;
	io.issue_flags = issue_flags;
	io.fixed = ioucmd->flags & IORING_URING_CMD_FIXED ? ioucmd : NULL;
	io.flags = nowait ? BLK_MQ_REQ_NOWAIT : 0;
	/* without polled queues an interrupt completes the request, and the polling ring finds it complete */
	if (issue_flags & IO_URING_F_IOPOLL && head->subsys->nr_poll)
		io.opf = REQ_POLLED;
	rq = nof_passthru_request(head, &io);
	/* depending on the kernel version, a nonblocking caller gets either error from a frozen queue */
	if (nowait && (rq == ERR_PTR(-EBUSY) || rq == ERR_PTR(-EWOULDBLOCK)))
		return -EAGAIN;
	if (IS_ERR(rq))
		return PTR_ERR(rq);
	uring_start(ioucmd, rq);
	return -EIOCBQUEUED;
}

int nof_uring_poll(struct io_uring_cmd *ioucmd, struct nof_head *head, struct io_comp_batch *iob)
{
	return nof_head_poll(head, io_of(ioucmd)->hctx, iob);
}

static int admin_fixed(struct io_uring_cmd *ioucmd, unsigned int issue_flags, const struct nvme_passthru_cmd64 *p,
		       int dir, struct iov_iter *data)
{
	if (ioucmd->cmd_op == NVME_URING_CMD_ADMIN_VEC)
		return -EINVAL;
	return min(io_uring_cmd_import_fixed(p->addr, p->data_len, dir, data, ioucmd, issue_flags), 0);
}

/* @iov: refers to UIO_FASTIOV elements. The caller must kfree() it afterwards. */
static int admin_data(struct io_uring_cmd *ioucmd, unsigned int issue_flags, const struct nvme_passthru_cmd64 *p,
		      struct iovec **iov, struct iov_iter *data)
{
	int dir = p->opcode & 1 ? ITER_SOURCE : ITER_DEST;
	void __user *addr = u64_to_user_ptr(p->addr);

	if (ioucmd->cmd_op == NVME_URING_CMD_ADMIN_VEC && !(ioucmd->flags & IORING_URING_CMD_FIXED))
		return min_t(ssize_t, import_iovec(dir, addr, p->data_len, UIO_FASTIOV, iov, data), 0);
	*iov = NULL;
	if (p->data_len && ioucmd->flags & IORING_URING_CMD_FIXED)
		return admin_fixed(ioucmd, issue_flags, p, dir, data);
	return import_ubuf(dir, addr, p->data_len, data);
}

/* Admin commands are rare and slow: -EAGAIN moves each to an io_uring worker, which waits for its completion. */
int nof_uring_admin(struct io_uring_cmd *ioucmd, unsigned int issue_flags, struct nof_ctrl *ctrl)
{
	const struct nof_caller who = { .ctrl = ctrl };
	struct iovec fast[UIO_FASTIOV], *iov = fast;
	struct nvme_passthru_cmd64 p;
	struct nof_grant grant;
	struct iov_iter data;
	u64 result = 0;
	int ret;

	if (!ring_fits(issue_flags) || issue_flags & IO_URING_F_IOPOLL)
		return -EOPNOTSUPP;
	if (ioucmd->cmd_op != NVME_URING_CMD_ADMIN && ioucmd->cmd_op != NVME_URING_CMD_ADMIN_VEC)
		return -ENOTTY;
	get_uring_cmd(ioucmd, &p);
	ret = nof_rights_check_admin(&who, NULL, &p, &grant);
	if (ret)
		return ret;
	if (issue_flags & IO_URING_F_NONBLOCK)
		return -EAGAIN;
	ret = admin_data(ioucmd, issue_flags, &p, &iov, &data);
	if (!ret)
		ret = nof_passthru_admin(ctrl, &p, &grant, &data, &result);
	kfree(iov);
	if (ret < 0)
		return ret;
	io_uring_cmd_done32(ioucmd, ret, result, issue_flags);
	return -EIOCBQUEUED;
}
