/* SPDX-License-Identifier: GPL-2.0-only */
/* What becomes of a request whose command came back with an error, or does not come back. Context: any. */
#ifndef NOF_MPATH_RETRY_H
#define NOF_MPATH_RETRY_H

#include <linux/blk-mq.h>

struct nof_cmd;
struct nof_request;

/* The path could not carry it, as opposed to a trouble that may be anywhere */
bool nof_request_leaves(const struct nof_request *req);
/* Of passthrough: its sender may sleep uninterruptibly, for as long as it has asked for, and no longer */
bool nof_request_in_time(const struct request *rq);
/* With the error that it has: counts the try where it does */
bool nof_request_goes_again(struct nof_request *req, struct request *rq);
/* An error after which the controller may have executed the command */
bool nof_status_in_doubt(u16 status);
/* What may be done with it once its answer is lost: enum nof_repeat */
u8 nof_request_repeat(struct request *rq);
/*
 * After a loss the driver asks the namespace whether the command was executed. The answer is valid only once the lost
 * copy cannot be executed any more, so the request waits for the fence whatever the policy.
 */
bool nof_request_asks(struct request *rq);
/* What its end has come to, for who sent a passthrough request: 0, an NVMe status, or a negative errno. Any context. */
int nof_request_status(struct request *rq, blk_status_t sts);
/* For nof_queue_detach(): what may go by another path instead, and has a better one. Any context. */
bool nof_request_may_leave(const struct nof_cmd *cmd, bool sent);

#endif
