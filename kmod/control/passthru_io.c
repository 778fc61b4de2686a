// SPDX-License-Identifier: GPL-2.0-only
/*
 * I/O commands from userspace: block requests like any other, so that they find a path, or wait for one. One that
 * comes back with an error is not sent again: its sender knows what it means.
 */
#include <linux/blk-mq.h>
#include <linux/nvme.h>
#include <linux/uaccess.h>
#include "control/ioctl.h"
#include "core/ctrl.h"
#include "mpath/head.h"

/*
 * Data of the commands whose length the block count tells; a buffer of another size would break the connection, not
 * the command.
 */
static bool length_fits(const struct nof_head *head, const struct nvme_passthru_cmd64 *p)
{
	switch (p->opcode) {
	case nvme_cmd_read:
	case nvme_cmd_write:
	case nvme_cmd_compare:
		return p->data_len == ((p->cdw12 & 0xffff) + 1) << head->lba_shift;
	case nvme_cmd_flush:
	case nvme_cmd_write_zeroes:
	case nvme_cmd_write_uncor:
	case nvme_cmd_verify:
		return !p->data_len;
	default:
		/* Transfers both ways have no place in one buffer. */
		return !p->data_len || (p->opcode & 3) != 3;
	}
}

static int passthru_io_check(const struct nof_head *head, const struct nvme_passthru_cmd64 *p,
			     const struct nvme_command *sqe)
{
	if (p->nsid != head->nsid || nvme_is_fabrics(sqe) || !length_fits(head, p))
		return -EINVAL;
	return 0;
}

/* The bound on the length is the queue's: max_hw_sectors. */
static int map_data(struct request *rq, const struct nvme_passthru_cmd64 *p)
{
	if (!p->data_len)
		return 0;
	return blk_rq_map_user(rq->q, rq, NULL, u64_to_user_ptr(p->addr), p->data_len, GFP_KERNEL);
}

static int passthru_io_exec(struct request *rq, const struct nvme_passthru_cmd64 *p, u64 *result)
{
	struct nof_request *req = blk_mq_rq_to_pdu(rq);
	struct bio *bio;
	blk_status_t sts;
	int ret, err;

	ret = map_data(rq, p);
	if (ret)
		return ret;
	bio = rq->bio;		/* the request is without it when it has completed */
	sts = blk_execute_rq(rq, false);
	*result = le64_to_cpu(req->cmd.result.u64);
	ret = req->cmd.status ?: blk_status_to_errno(sts);
	err = bio ? blk_rq_unmap_user(bio) : 0;
	return ret ?: err;
}

int nof_passthru_io(struct nof_head *head, const struct nof_ctrl *ctrl, const struct nvme_passthru_cmd64 *p,
		    u64 *result)
{
	struct nvme_command sqe;
	struct nof_request *req;
	struct request *rq;
	int ret;

	ret = nof_passthru_sqe(p, &sqe) ?: passthru_io_check(head, p, &sqe);
	if (ret)
		return ret;
	rq = blk_mq_alloc_request(head->disk->queue, nvme_is_write(&sqe) ? REQ_OP_DRV_OUT : REQ_OP_DRV_IN, 0);
	if (IS_ERR(rq))
		return PTR_ERR(rq);
	/* a short one ends the association of all, a long one is a bound that is not there */
	if (p->timeout_ms && capable(CAP_SYS_ADMIN))
		rq->timeout = msecs_to_jiffies(p->timeout_ms);
	req = blk_mq_rq_to_pdu(rq);
	req->cmd.sqe = sqe;
	req->only = ctrl ? ctrl->id : 0;
	req->hasty = false;
	/* The last user's; a request that finds no path ends without a status of its own. */
	req->cmd.status = 0;
	req->cmd.result.u64 = 0;
	ret = passthru_io_exec(rq, p, result);
	blk_mq_free_request(rq);
	return ret;
}
