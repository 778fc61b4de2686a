/* SPDX-License-Identifier: GPL-2.0-only */
/* Completion of commands: ends the request or retries it. */
#ifndef NOF_MPATH_COMPLETE_H
#define NOF_MPATH_COMPLETE_H

#include <linux/blk-mq.h>

struct nof_cmd;
struct nof_completed;

/* Static calls and a callback of struct nof_mpath_ops, see core/upcalls.h */
void nof_request_complete(struct nof_cmd *cmd, struct nof_completed *done);
void nof_requests_finish(struct nof_completed *done);
void nof_request_detached(struct nof_cmd *cmd, bool sent, struct nof_completed *done);
/* Callbacks of struct blk_mq_ops: complete, timeout */
void nof_request_end(struct request *rq);
enum blk_eh_timer_return nof_request_timeout(struct request *rq);
/* True for an error status after which the controller may have executed the command */
bool nof_status_in_doubt(u16 status);
/* The result of a passthrough request for its submitter: 0, an NVMe status, or a negative errno. Any context. */
int nof_request_status(struct request *rq, blk_status_t sts);
/*
 * For nof_queue_detach(): true if the request can be retried on another path and there is a better one. Once sent, only
 * reads and flushes can. Any context.
 */
bool nof_request_may_detach(const struct nof_cmd *cmd, bool sent);

#endif
