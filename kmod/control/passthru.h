/* SPDX-License-Identifier: GPL-2.0-only */
/* Commands from userspace, whichever way they come: by ioctl or by io_uring. */
#ifndef NOF_CONTROL_PASSTHRU_H
#define NOF_CONTROL_PASSTHRU_H

#include <linux/blk-mq.h>
#include <linux/nvme_ioctl.h>

struct io_uring_cmd;
struct iov_iter;
struct nof_ctrl;
struct nof_grant;
struct nof_head;

/**
 * nof_passthru_admin() - send an admin command
 * @p:		its data_len and timeout_ms are not looked at
 * @grant:	within what bounds
 * @data:	the caller's buffer, all of it is the command's
 * @result:	dwords 0 and 1 of the completion, set unless a negative errno is returned
 *
 * Context: process, sleeps. Permission is the caller's business.
 * Returns 0, a negative errno, or the NVMe status of the command as a positive number.
 */
int nof_passthru_admin(struct nof_ctrl *ctrl, const struct nvme_passthru_cmd64 *p, const struct nof_grant *grant,
		       struct iov_iter *data, u64 *result);

/**
 * struct nof_passthru_io - an I/O command
 * @p:		addr and data_len: its buffer; or so many struct iovec there. Its timeout_ms is not looked at
 * @grant:	within what bounds
 * @only:	the controller that has to take it; NULL: any that the disk has a path by
 * @vec:	these are vectors
 * @fixed:	the buffer is one that is registered with this command's io_uring; NULL: it is not
 * @opf, @flags: for blk_mq_alloc_request()
 */
struct nof_passthru_io {
	const struct nvme_passthru_cmd64 *p;
	const struct nof_grant		*grant;
	const struct nof_ctrl		*only;
	bool				vec;
	struct io_uring_cmd		*fixed;
	blk_opf_t			opf;
	blk_mq_req_flags_t		flags;
};

/*
 * A request of the head's queue, with its data mapped, ready to be executed; the caller unmaps its bio and frees it.
 * ERR_PTR where it cannot be. Context: process, sleeps, but not for tags with BLK_MQ_REQ_NOWAIT.
 */
struct request *nof_passthru_request(struct nof_head *head, const struct nof_passthru_io *io);
/* Makes, executes and frees it. Returns and @result as nof_passthru_admin(). */
int nof_passthru_execute(struct nof_head *head, const struct nof_passthru_io *io, u64 *result);

#endif
