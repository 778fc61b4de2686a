// SPDX-License-Identifier: GPL-2.0-only
/* Passthrough commands: built from the structures of userspace, sent to a controller or over the paths of a disk. */
#include <linux/blk-mq.h>
#include <linux/gfp.h>
#include <linux/nvme.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/uio.h>
#include "compat/uring.h"
#include "control/passthru.h"
#include "control/rights.h"
#include "core/ctrl.h"
#include "core/lifecycle.h"
#include "core/state.h"
#include "core/subsys.h"
#include "mpath/complete.h"
#include "mpath/head.h"
#include "mpath/path.h"
#include "mpath/reserve.h"
#include "wire/identify.h"

static int passthru_sqe(const struct nvme_passthru_cmd64 *p, struct nvme_command *sqe)
{
	/* FUSE, PSDT: fused commands could take different paths, and the transport sets the data pointer format */
	if (p->flags)
		return -EINVAL;
	/* no transport supports a separate metadata buffer */
	if (p->metadata_len)
		return -EOPNOTSUPP;
	memset(sqe, 0, sizeof(*sqe));
	sqe->common.opcode = p->opcode;
	sqe->common.nsid = cpu_to_le32(p->nsid);
	sqe->common.cdw2[0] = cpu_to_le32(p->cdw2);
	sqe->common.cdw2[1] = cpu_to_le32(p->cdw3);
	sqe->common.cdw10 = cpu_to_le32(p->cdw10);
	sqe->common.cdw11 = cpu_to_le32(p->cdw11);
	sqe->common.cdw12 = cpu_to_le32(p->cdw12);
	sqe->common.cdw13 = cpu_to_le32(p->cdw13);
	sqe->common.cdw14 = cpu_to_le32(p->cdw14);
	sqe->common.cdw15 = cpu_to_le32(p->cdw15);
	return 0;
}

/* Commands that would break the association: Fabrics commands such as Connect; event requests may time out. */
static bool sqe_is_reserved(const struct nvme_command *sqe)
{
	if (!nvme_is_fabrics(sqe))
		return sqe->common.opcode == nvme_admin_async_event;
	return sqe->fabrics.fctype != nvme_fabrics_type_property_get &&
	       sqe->fabrics.fctype != nvme_fabrics_type_property_set;
}

static int passthru_admin_check(struct nof_ctrl *ctrl, const struct nvme_command *sqe, size_t len, u32 max_bytes)
{
	enum nvmeof_ctrl_state state = nof_ctrl_state(ctrl);

	if (nof_state_ends(state))
		return -ENODEV;
	if (state != NVMEOF_CTRL_LIVE)
		return -EAGAIN;
	if (sqe_is_reserved(sqe))
		return -EINVAL;
	if (len > min(ctrl->ident.max_transfer, max_bytes))
		return -EINVAL;
	/* Property Get and Set have no data; one buffer cannot be both source and target (NVMe Base 2.0, figure 87) */
	if (len && (nvme_is_fabrics(sqe) || (sqe->common.opcode & 3) == 3))
		return -EINVAL;
	return 0;
}

/* Zeroed: if the target transfers less than requested, userspace must not see old kernel memory. */
static int passthru_buffer_alloc(struct nof_cmd *cmd, struct iov_iter *data)
{
	if (!iov_iter_count(data))
		return 0;
	cmd->len = iov_iter_count(data);
	cmd->buf = alloc_pages_exact(cmd->len, GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NOWARN);
	if (!cmd->buf)
		return -ENOMEM;
	if (cmd->write && !copy_from_iter_full(cmd->buf, cmd->len, data)) {
		free_pages_exact(cmd->buf, cmd->len);
		return -EFAULT;
	}
	return 0;
}

static int passthru_buffer_finish(struct nof_cmd *cmd, struct iov_iter *data, int status)
{
	if (!cmd->buf)
		return status;
	if (!status && !cmd->write && copy_to_iter(cmd->buf, cmd->len, data) != cmd->len)
		status = -EFAULT;
	free_pages_exact(cmd->buf, cmd->len);
	return status;
}

static bool sets_kato(const struct nvme_passthru_cmd64 *p)
{
	return p->opcode == nvme_admin_set_features && (p->cdw10 & 0xff) == NVME_FEAT_KATO;
}

/* Format NVM Attributes (FNA) bit 0: a format applies to all namespaces */
#define FNA_ALL_NS	BIT(0)

/**
 * struct effects - side effects of an admin command
 * @of:		NOF_EFFECT_STOPS_IO and so on
 * @nsid:	namespace whose I/O it stops, or NVME_NSID_ALL
 * @stopped:	the I/O is stopped until the namespaces have been scanned: their block size may change
 */
struct effects {
	u8	of;
	u32	nsid;
	bool	stopped;
};

static struct effects passthru_effects_get(const struct nof_ctrl *ctrl, const struct nvme_passthru_cmd64 *p)
{
	u8 of = READ_ONCE(ctrl->effects.admin.of[p->opcode]);
	bool all = of & NOF_EFFECT_ALL_NS || (p->opcode == nvme_admin_format_nvm && ctrl->ident.fna & FNA_ALL_NS);

	return (struct effects){ .of = of, .nsid = all ? NVME_NSID_ALL : p->nsid };
}

static int passthru_admin_exec(struct nof_ctrl *ctrl, struct nof_cmd *cmd, const struct nvme_passthru_cmd64 *p,
			       const struct nof_grant *grant, struct iov_iter *data, struct effects *effects,
			       u64 *result)
{
	u32 kato_ms = 0;
	int ret;

	ret = passthru_sqe(p, &cmd->sqe) ?:
	      passthru_admin_check(ctrl, &cmd->sqe, iov_iter_count(data), grant->max_bytes);
	if (ret)
		return ret;
	cmd->write = nvme_is_write(&cmd->sqe);
	ret = passthru_buffer_alloc(cmd, data);
	if (ret)
		return ret;
	if (sets_kato(p))
		kato_ms = nof_ka_change_begin(ctrl, p->cdw11);
	effects->stopped = effects->of & NOF_EFFECT_STOPS_IO;
	if (effects->stopped)
		ret = nof_paths_suspend(ctrl->subsys, effects->nsid);
	ret = ret ?: nof_ctrl_exec_user(ctrl, cmd, grant->timeout_ms);
	if (sets_kato(p) && ret > 0)
		nof_ka_change_failed(ctrl, p->cdw11, kato_ms);
	else if (sets_kato(p))
		nof_ka_change_done(ctrl, !ret && !p->cdw11);
	*result = le64_to_cpu(cmd->result.u64);
	return passthru_buffer_finish(cmd, data, ret);
}

/* Takes the slot before any allocation, so that a caller that waits for a slot holds no memory but its stack. */
int nof_passthru_admin(struct nof_ctrl *ctrl, const struct nvme_passthru_cmd64 *p, const struct nof_grant *grant,
		       struct iov_iter *data, u64 *result)
{
	struct effects effects = passthru_effects_get(ctrl, p);
	struct nof_cmd *cmd;
	int ret;

	ret = nof_admin_take(ctrl, grant->user);
	if (ret)
		return ret;
	cmd = kzalloc(sizeof(*cmd), GFP_KERNEL_ACCOUNT);
	ret = cmd ? passthru_admin_exec(ctrl, cmd, p, grant, data, &effects, result) : -ENOMEM;
	kfree(cmd);
	nof_admin_leave(ctrl, grant->user);
	if (effects.stopped)
		nof_paths_resume(ctrl->subsys, effects.nsid);
	/* an error of the scan is ignored: the command is done, and the next scan finds what this one has missed */
	if (effects.stopped || (!ret && effects.of & NOF_EFFECT_RESCAN))
		nof_ctrl_rescan(ctrl, NULL);
	return ret;
}

/* False for a bidirectional transfer, for which one buffer cannot be used. */
static bool opcode_fits_one_buffer(const struct nvme_passthru_cmd64 *p, u32 len)
{
	return !len || (p->opcode & 3) != 3;
}

#define NOF_CMD_IO_MGMT_RECV	0x12	/* I/O Management Receive; older kernels have no name for it */

/*
 * A field of some commands determines the length of their data: the number of blocks, or NUMD, the longest answer. A
 * buffer that does not fit would end the connection, not only the command.
 */
static bool length_fits(const struct nof_head *head, const struct nvme_passthru_cmd64 *p, u32 len)
{
	switch (p->opcode) { /* these are common to all command sets */
	case nvme_cmd_flush:
		return !len;
	case nvme_cmd_resv_report:
		return len >= ((u64)p->cdw10 + 1) * sizeof(u32);
	case NOF_CMD_IO_MGMT_RECV:
		return len >= ((u64)p->cdw11 + 1) * sizeof(u32);
	}
	if (nof_format_is_generic(&head->format))
		return opcode_fits_one_buffer(p, len);
	switch (p->opcode) {
	case nvme_cmd_zone_append:
		if (!head->format.zone_blocks)
			break;
		fallthrough;
	case nvme_cmd_read:
	case nvme_cmd_write:
	case nvme_cmd_compare:
		return len == ((p->cdw12 & 0xffff) + 1) * nof_ns_block_bytes(&head->format, p->cdw12);
	case nvme_cmd_write_zeroes:
	case nvme_cmd_write_uncor:
	case nvme_cmd_verify:
		return !len;
	case nvme_cmd_zone_mgmt_recv:
		if (!head->format.zone_blocks)
			break;
		return len >= ((u64)p->cdw12 + 1) * sizeof(u32);
	}
	return opcode_fits_one_buffer(p, len);
}

static int map_fixed(struct request *rq, const struct nof_passthru_io *io)
{
	struct iov_iter iter;
	int ret;

	if (io->vec)
		return -EINVAL;
	ret = io_uring_cmd_import_fixed(io->p->addr, io->p->data_len, rq_data_dir(rq), &iter, io->fixed,
					io->issue_flags);
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

/* The block layer checks limits when it adds a bio to a request, but not for the first bio. */
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
	req->no_wait = false;
	/* clear values of the tag's last request: a request that ends without a path does not set them */
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

	ret = passthru_sqe(io->p, &sqe);
	if (ret)
		return ERR_PTR(ret);
	if (io->p->nsid != head->nsid || nvme_is_fabrics(&sqe))
		return ERR_PTR(-EINVAL);
	op = nvme_is_write(&sqe) ? REQ_OP_DRV_OUT : REQ_OP_DRV_IN;
	rq = blk_mq_alloc_request(head->disk->queue, op | io->opf, io->flags);
	if (IS_ERR(rq))
		return rq;
	((struct nof_request *)blk_mq_rq_to_pdu(rq))->cmd.sqe = sqe;
	nof_reserve_count_passthru(rq);
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
	bio = rq->bio;		/* completion clears rq->bio */
	ret = nof_request_status(rq, blk_execute_rq(rq, false));
	nof_reserve_count_passthru(rq);
	*result = le64_to_cpu(req->cmd.result.u64);
	err = bio ? blk_rq_unmap_user(bio) : 0;
	blk_mq_free_request(rq);
	return ret ?: err;
}
