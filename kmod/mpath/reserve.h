/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reservations of a disk, through any of its paths. The registrant is the host, so a registration applies to all paths,
 * including those that reconnect or join later: it need not be repeated there.
 */
#ifndef NOF_MPATH_RESERVE_H
#define NOF_MPATH_RESERVE_H

#include "compat/pr.h"
#include "mpath/head.h"
#include "mpath/request.h"

extern const struct pr_ops nof_reserve_ops;

/* Before a passthrough command is sent, and before the submitter of a completed one is notified: see change_judge() */
static inline void nof_reserve_count_passthru(struct request *rq)
{
	struct nof_head *head = rq->q->queuedata;
	struct nof_request *req = blk_mq_rq_to_pdu(rq);

	switch (req->cmd.sqe.common.opcode) {
	case nvme_cmd_resv_register:
	case nvme_cmd_resv_acquire:
	case nvme_cmd_resv_release:
		atomic_inc(&head->reserve.passthru_seq);
		break;
	default:
		break;
	}
}

#endif
