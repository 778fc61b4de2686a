/* SPDX-License-Identifier: GPL-2.0-only */
/* Passthrough commands of userspace, by ioctl or io_uring. */
#ifndef NOF_CONTROL_PASSTHRU_H
#define NOF_CONTROL_PASSTHRU_H

#include <linux/blk-mq.h>
#include <linux/blkdev.h>
#include <linux/nvme_ioctl.h>

struct io_comp_batch;
struct io_uring_cmd;
struct iov_iter;
struct nof_caller;
struct nof_ctrl;
struct nof_grant;
struct nof_head;

/**
 * nof_passthru_admin() - send an admin command
 * @ctrl:	controller
 * @p:		the command; data_len and timeout_ms are ignored
 * @grant:	limits of the command
 * @data:	the caller's buffer; all of it is transferred
 * @result:	dwords 0 and 1 of the completion, set unless a negative errno is returned
 *
 * The caller checks permissions. Context: process, may sleep.
 * Returns 0, a negative errno, or the NVMe status of the command as a positive number.
 */
int nof_passthru_admin(struct nof_ctrl *ctrl, const struct nvme_passthru_cmd64 *p, const struct nof_grant *grant,
		       struct iov_iter *data, u64 *result);

/**
 * struct nof_passthru_io - an I/O command
 * @p:		the command; addr and data_len give the buffer, or with @vec an array of struct iovec and their number.
 *		timeout_ms is ignored
 * @grant:	limits of the command
 * @only:	the controller that must execute it; NULL: any path of the disk
 * @vec:	the data is described by struct iovec
 * @fixed:	the io_uring command with whose ring the buffer is registered; NULL: not a registered buffer
 * @issue_flags: those of @fixed
 * @opf, @flags: for blk_mq_alloc_request()
 */
struct nof_passthru_io {
	const struct nvme_passthru_cmd64 *p;
	const struct nof_grant		*grant;
	const struct nof_ctrl		*only;
	bool				vec;
	struct io_uring_cmd		*fixed;
	unsigned int			issue_flags;
	blk_opf_t			opf;
	blk_mq_req_flags_t		flags;
};

/*
 * Returns a request of the head's queue with its data mapped, ready for execution, or ERR_PTR. The caller unmaps its
 * bio and frees the request. Context: process, may sleep; does not wait for a tag with BLK_MQ_REQ_NOWAIT.
 */
struct request *nof_passthru_request(struct nof_head *head, const struct nof_passthru_io *io);
/* Allocates, executes and frees a request. Return value and @result as in nof_passthru_admin(). */
int nof_passthru_execute(struct nof_head *head, const struct nof_passthru_io *io, u64 *result);

/*
 * The standard NVMe ioctls (ioctl.c). Each returns 0, a negative errno, or the NVMe status of the command as a positive
 * number.
 */

/* ioctl of a controller's device node */
long nof_ctrl_ioctl(struct nof_ctrl *ctrl, unsigned int cmd, void __user *arg);
/* The head_ioctl of struct nof_control_ops */
int nof_head_ioctl(struct block_device *bdev, blk_mode_t mode, unsigned int cmd, unsigned long arg);
/* ioctl of a disk's block device node or generic node */
int nof_disk_ioctl(struct nof_head *head, const struct nof_caller *who, unsigned int cmd, void __user *arg);

/*
 * Passthrough by io_uring (uring.c). The CQE has 0, a negative errno or the NVMe status in res, and dwords 0 and 1 of
 * the NVMe completion in big_cqe. On -EAGAIN io_uring issues the command again from a context that may sleep. Context:
 * process.
 */

/* NVME_URING_CMD_ADMIN and _ADMIN_VEC, at a controller's node */
int nof_uring_admin(struct io_uring_cmd *ioucmd, unsigned int issue_flags, struct nof_ctrl *ctrl);
/* NVME_URING_CMD_IO and _IO_VEC, at a disk's generic node; the open file keeps @head */
int nof_uring_io(struct io_uring_cmd *ioucmd, unsigned int issue_flags, struct nof_head *head,
		 const struct nof_caller *who);
/* Polls the queues to which nof_uring_io() has sent @ioucmd. Returns the number of completions found. */
int nof_uring_poll(struct io_uring_cmd *ioucmd, struct nof_head *head, struct io_comp_batch *iob);

#endif
