/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reservations of a disk, by any of its paths. A registrant is this host, so what is done by one path counts for all of
 * them, for one that comes back and for one that joins: nothing is repeated there.
 */
#ifndef NOF_MPATH_RESERVE_H
#define NOF_MPATH_RESERVE_H

#include "compat/pr.h"
#include "mpath/head.h"
#include "mpath/request.h"

extern const struct pr_ops nof_reserve_ops;

/* A passthrough command begins, or has ended and its sender does not know yet: see change_judge() */
static inline void nof_reserve_passthru(struct request *rq)
{
	struct nof_head *head = rq->q->queuedata;
	struct nof_request *req = blk_mq_rq_to_pdu(rq);

	switch (req->cmd.sqe.common.opcode) {
	case nvme_cmd_resv_register:
	case nvme_cmd_resv_acquire:
	case nvme_cmd_resv_release:
		atomic_inc(&head->reserve_others);
		break;
	default:
		break;
	}
}

#endif
