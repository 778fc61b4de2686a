/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Passthrough by io_uring. A command ends with 0, a negative errno or its NVMe status in res, and dwords 0 and 1 of its
 * completion behind it. -EAGAIN: it comes again, from where it may sleep. Context: process.
 */
#ifndef NOF_CONTROL_URING_H
#define NOF_CONTROL_URING_H

#include "compat/uring.h"

struct nof_caller;
struct nof_ctrl;
struct nof_head;

/* NVME_URING_CMD_ADMIN and _ADMIN_VEC, at a controller's node */
int nof_uring_admin(struct io_uring_cmd *ioucmd, unsigned int issue_flags, struct nof_ctrl *ctrl);
/* NVME_URING_CMD_IO and _IO_VEC, at a disk's generic node; @head is there for as long as the file is open */
int nof_uring_io(struct io_uring_cmd *ioucmd, unsigned int issue_flags, struct nof_head *head,
		 const struct nof_caller *who);
/* Looks for the end of a command that nof_uring_io() has begun, where rings are polled. How many it found. */
int nof_uring_poll(struct io_uring_cmd *ioucmd, struct nof_head *head, struct io_comp_batch *iob);

#endif
