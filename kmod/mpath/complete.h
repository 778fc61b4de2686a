/* SPDX-License-Identifier: GPL-2.0-only */
/* From the completion of a command to the end of its request, or to another path. */
#ifndef NOF_MPATH_COMPLETE_H
#define NOF_MPATH_COMPLETE_H

#include <linux/blk-mq.h>

struct nof_cmd;
struct nof_completed;

/* As struct nof_mpath_ops and the static calls of core/upcalls.h have them */
void nof_request_complete(struct nof_cmd *cmd, struct nof_completed *done);
void nof_requests_finish(struct nof_completed *done);
void nof_request_detached(struct nof_cmd *cmd, bool sent, struct nof_completed *done);
/* For blk-mq: ends the request, and looks at one whose time limit has passed */
void nof_request_end(struct request *rq);
enum blk_eh_timer_return nof_request_timeout(struct request *rq);
/* An error after which the controller may have executed the command */
bool nof_status_in_doubt(u16 status);
/* What its end has come to, for who sent a passthrough request: 0, an NVMe status, or a negative errno. Any context. */
int nof_request_status(struct request *rq, blk_status_t sts);
/* For nof_queue_detach(): what may go by another path instead, and has a better one. Any context. */
bool nof_request_may_leave(const struct nof_cmd *cmd, bool sent);

#endif
