/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Passthrough by io_uring. The CQE has 0, a negative errno or the NVMe status in res, and dwords 0 and 1 of the NVMe
 * completion in big_cqe. On -EAGAIN io_uring issues the command again from a context that may sleep. Context: process.
 */
#ifndef NOF_CONTROL_URING_H
#define NOF_CONTROL_URING_H

#include "compat/uring.h"

struct nof_caller;
struct nof_ctrl;
struct nof_head;

/* NVME_URING_CMD_ADMIN and _ADMIN_VEC, at a controller's node */
int nof_uring_admin(struct io_uring_cmd *ioucmd, unsigned int issue_flags, struct nof_ctrl *ctrl);
/* NVME_URING_CMD_IO and _IO_VEC, at a disk's generic node; the open file keeps @head */
int nof_uring_io(struct io_uring_cmd *ioucmd, unsigned int issue_flags, struct nof_head *head,
		 const struct nof_caller *who);
/* Polls the queues to which nof_uring_io() has sent @ioucmd. Returns the number of completions found. */
int nof_uring_poll(struct io_uring_cmd *ioucmd, struct nof_head *head, struct io_comp_batch *iob);

#endif
