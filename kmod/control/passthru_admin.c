// SPDX-License-Identifier: GPL-2.0-only
/* Admin commands from userspace. */
#include <linux/gfp.h>
#include <linux/nvme.h>
#include <linux/slab.h>
#include <linux/uio.h>
#include "control/passthru.h"
#include "control/rights.h"
#include "core/lifecycle.h"
#include "core/state.h"
#include "core/subsys.h"
#include "mpath/path.h"

int nof_passthru_sqe(const struct nvme_passthru_cmd64 *p, struct nvme_command *sqe)
{
	/* Fused commands cannot be kept together on the way, the data pointer's format is the transport's. */
	if (p->flags)
		return -EINVAL;
	/* no transport carries metadata */
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

/* What would pull the association from under the driver: Connect, or an event request that is answered to nobody. */
static bool is_ours(const struct nvme_command *sqe)
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
	if (is_ours(sqe))
		return -EINVAL;
	if (len > min(ctrl->max_transfer, max_bytes))
		return -EINVAL;
	/* Transfers both ways (NVMe Base 2.0, figure 87) have no place in one buffer. */
	if (len && !nvme_is_fabrics(sqe) && (sqe->common.opcode & 3) == 3)
		return -EINVAL;
	return 0;
}

/* Zeroed: a target that sends less than was asked for shows userspace no memory of ours. */
static int get_buffer(struct nof_cmd *cmd, struct iov_iter *data)
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

static int put_buffer(struct nof_cmd *cmd, struct iov_iter *data, int status)
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

/* Format NVM Attributes: a format concerns all namespaces */
#define FNA_ALL_NS	BIT(0)

/**
 * struct effects - what the command does besides its purpose
 * @of:		NOF_EFFECT_STOPS_IO and so on
 * @nsid:	whose I/O it stops
 * @stopped:	it has been stopped, until the namespaces were looked at again: it may be in blocks of another size
 */
struct effects {
	u8	of;
	u32	nsid;
	bool	stopped;
};

static struct effects effects_of(const struct nof_ctrl *ctrl, const struct nvme_passthru_cmd64 *p)
{
	u8 of = READ_ONCE(ctrl->admin_effects.of[p->opcode]);
	bool all = of & NOF_EFFECT_ALL_NS || (p->opcode == nvme_admin_format_nvm && ctrl->fna & FNA_ALL_NS);

	return (struct effects){ .of = of, .nsid = all ? NVME_NSID_ALL : p->nsid };
}

static int passthru_admin_exec(struct nof_ctrl *ctrl, struct nof_cmd *cmd, const struct nvme_passthru_cmd64 *p,
			       const struct nof_grant *grant, struct iov_iter *data, struct effects *effects,
			       u64 *result)
{
	u32 kato_ms = 0;
	int ret;

	ret = nof_passthru_sqe(p, &cmd->sqe) ?:
	      passthru_admin_check(ctrl, &cmd->sqe, iov_iter_count(data), grant->max_bytes);
	if (ret)
		return ret;
	cmd->write = nvme_is_write(&cmd->sqe);
	ret = get_buffer(cmd, data);
	if (ret)
		return ret;
	if (sets_kato(p))
		kato_ms = nof_ka_expect(ctrl, p->cdw11);
	effects->stopped = effects->of & NOF_EFFECT_STOPS_IO;
	if (effects->stopped)
		ret = nof_paths_doubt(ctrl->subsys, effects->nsid);
	ret = ret ?: nof_ctrl_exec_user(ctrl, cmd, grant->timeout_ms);
	if (sets_kato(p) && ret > 0)
		nof_ka_refused(ctrl, p->cdw11, kato_ms);
	else if (sets_kato(p))
		nof_ka_changed(ctrl, !ret && !p->cdw11);
	*result = le64_to_cpu(cmd->result.u64);
	return put_buffer(cmd, data, ret);
}

/* A place first: who waits for one has no memory but its stack */
int nof_passthru_admin(struct nof_ctrl *ctrl, const struct nvme_passthru_cmd64 *p, const struct nof_grant *grant,
		       struct iov_iter *data, u64 *result)
{
	struct effects effects = effects_of(ctrl, p);
	struct nof_cmd *cmd;
	int ret;

	ret = nof_admin_take(ctrl, grant->place);
	if (ret)
		return ret;
	cmd = kzalloc(sizeof(*cmd), GFP_KERNEL_ACCOUNT);
	ret = cmd ? passthru_admin_exec(ctrl, cmd, p, grant, data, &effects, result) : -ENOMEM;
	kfree(cmd);
	nof_admin_leave(ctrl, grant->place);
	if (effects.stopped)
		nof_paths_settle(ctrl->subsys, effects.nsid);
	/* The command itself is done; what a failed scan misses, the next one finds. */
	if (effects.stopped || (!ret && effects.of & NOF_EFFECT_RESCAN))
		nof_ctrl_rescan(ctrl, NULL);
	return ret;
}
