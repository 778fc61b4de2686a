// SPDX-License-Identifier: GPL-2.0-only
/*
 * I/O commands from userspace: block requests like any other, so that they find a path, or wait for one. What becomes
 * of them when the path is lost tells mpath/repeat.h.
 */
#include <linux/blk-mq.h>
#include <linux/nvme.h>
#include <linux/uaccess.h>
#include "compat/uring.h"
#include "control/passthru.h"
#include "control/rights.h"
#include "core/ctrl.h"
#include "mpath/head.h"
#include "mpath/reserve.h"
#include "mpath/retry.h"

/* Transfers both ways have no place in one buffer. */
static bool one_way(const struct nvme_passthru_cmd64 *p, u32 len)
{
	return !len || (p->opcode & 3) != 3;
}

/*
 * Data of the commands whose length the block count tells; a buffer of another size would break the connection, not
 * the command.
 */
static bool length_fits(const struct nof_head *head, const struct nvme_passthru_cmd64 *p, u32 len)
{
	/* all command sets have Flush in common, of these */
	if (nof_format_is_generic(&head->format))
		return p->opcode == nvme_cmd_flush ? !len : one_way(p, len);
	switch (p->opcode) {
	case nvme_cmd_zone_append:
		if (!head->format.zone_blocks)
			break;
		fallthrough;
	case nvme_cmd_read:
	case nvme_cmd_write:
	case nvme_cmd_compare:
		return len == ((p->cdw12 & 0xffff) + 1) * nof_ns_block_bytes(&head->format, p->cdw12);
	case nvme_cmd_flush:
	case nvme_cmd_write_zeroes:
	case nvme_cmd_write_uncor:
	case nvme_cmd_verify:
		return !len;
	}
	return one_way(p, len);
}

static int map_fixed(struct request *rq, const struct nof_passthru_io *io)
{
	struct iov_iter iter;
	int ret;

	if (io->vec)
		return -EINVAL;
	ret = io_uring_cmd_import_fixed(io->p->addr, io->p->data_len, rq_data_dir(rq), &iter, io->fixed);
	return ret < 0 ? ret : blk_rq_map_user_iov(rq->q, rq, NULL, &iter, GFP_KERNEL);
}

static int passthru_map(struct request *rq, const struct nof_passthru_io *io)
{
	if (!io->p->data_len)
		return 0;
	if (!io->vec && io->p->data_len > io->grant->max_bytes)
		return -EINVAL;
	if (io->fixed)
		return map_fixed(rq, io);
	return blk_rq_map_user_io(rq, NULL, u64_to_user_ptr(io->p->addr), io->p->data_len, GFP_KERNEL, io->vec, 0,
				  false, rq_data_dir(rq));
}

/* The block layer looks at the limits of what is added to a request, and not at those of its first piece */
static bool mapped_fits(const struct nof_head *head, struct request *rq, const struct nof_passthru_io *io)
{
	return blk_rq_bytes(rq) <= io->grant->max_bytes && rq->nr_phys_segments <= queue_max_segments(rq->q) &&
	       length_fits(head, io->p, blk_rq_bytes(rq));
}

static int passthru_prepare(struct nof_head *head, struct request *rq, const struct nof_passthru_io *io)
{
	struct nof_request *req = blk_mq_rq_to_pdu(rq);
	int ret;

	if (io->grant->timeout_ms)
		rq->timeout = msecs_to_jiffies(io->grant->timeout_ms);
	req->only = io->only ? io->only->id : 0;
	req->hasty = false;
	/* The last user's; a request that finds no path ends without a status of its own. */
	req->cmd.status = 0;
	req->cmd.result.u64 = 0;
	ret = passthru_map(rq, io);
	if (ret)
		return ret;
	if (mapped_fits(head, rq, io))
		return 0;
	if (rq->bio)
		blk_rq_unmap_user(rq->bio);
	return -EINVAL;
}

struct request *nof_passthru_request(struct nof_head *head, const struct nof_passthru_io *io)
{
	struct nvme_command sqe;
	struct request *rq;
	blk_opf_t op;
	int ret;

	ret = nof_passthru_sqe(io->p, &sqe);
	if (ret)
		return ERR_PTR(ret);
	if (io->p->nsid != head->nsid || nvme_is_fabrics(&sqe))
		return ERR_PTR(-EINVAL);
	op = nvme_is_write(&sqe) ? REQ_OP_DRV_OUT : REQ_OP_DRV_IN;
	rq = blk_mq_alloc_request(head->disk->queue, op | io->opf, io->flags);
	if (IS_ERR(rq))
		return rq;
	((struct nof_request *)blk_mq_rq_to_pdu(rq))->cmd.sqe = sqe;
	nof_reserve_passthru(rq);
	ret = passthru_prepare(head, rq, io);
	if (ret) {
		blk_mq_free_request(rq);
		return ERR_PTR(ret);
	}
	return rq;
}

int nof_passthru_execute(struct nof_head *head, const struct nof_passthru_io *io, u64 *result)
{
	struct request *rq = nof_passthru_request(head, io);
	struct nof_request *req;
	struct bio *bio;
	int ret, err;

	if (IS_ERR(rq))
		return PTR_ERR(rq);
	req = blk_mq_rq_to_pdu(rq);
	bio = rq->bio;		/* the request is without it when it has completed */
	ret = nof_request_status(rq, blk_execute_rq(rq, false));
	nof_reserve_passthru(rq);
	*result = le64_to_cpu(req->cmd.result.u64);
	err = bio ? blk_rq_unmap_user(bio) : 0;
	blk_mq_free_request(rq);
	return ret ?: err;
}
