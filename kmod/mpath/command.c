// SPDX-License-Identifier: GPL-2.0-only
#include <linux/blk-mq.h>
#include "mpath/command.h"
#include "mpath/head.h"
#include "mpath/request.h"
#include "wire/status.h"

static int command_result(const struct nof_request *req, blk_status_t sts)
{
	u16 status = req->cmd.status;

	if (!(status & NVME_SCT_SC_MASK))
		return blk_status_to_errno(sts);
	if (req->fail_after_fence)
		return -ESTALE;
	/* its connection was lost, and it was not retried or no path was left */
	return status == NVME_SC_HOST_ABORTED_CMD ? -ENOLINK : status;
}

int nof_command_exec(struct nof_head *head, const struct nof_command *cmd)
{
	struct request_queue *q = head->disk->queue;
	struct nof_request *req;
	struct request *rq;
	int ret = 0;

	rq = blk_mq_alloc_request(q, REQ_DRV | (cmd->write ? REQ_OP_DRV_OUT : REQ_OP_DRV_IN), 0);
	if (IS_ERR(rq))
		return PTR_ERR(rq);
	req = blk_mq_rq_to_pdu(rq);
	req->cmd.sqe = cmd->sqe;
	req->cmd.sqe.common.nsid = cpu_to_le32(head->nsid);
	req->cmd.status = 0;
	req->only = 0;
	req->no_wait = cmd->no_wait;
	req->retry = cmd->retry;
	if (cmd->len)
		ret = blk_rq_map_kern(rq, cmd->buf, cmd->len, GFP_NOIO);
	if (!ret)
		ret = command_result(req, blk_execute_rq(rq, false));
	blk_mq_free_request(rq);
	return ret;
}
