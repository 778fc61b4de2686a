// SPDX-License-Identifier: GPL-2.0-only
/* Fabrics commands: Connect, and properties with what they control: enable and shutdown. */
#include <linux/jiffies.h>
#include <linux/slab.h>
#include "core/auth.h"
#include "core/ctrl.h"
#include "core/lifecycle.h"
#include "core/queue.h"
#include "wire/status.h"

#define CNTLID_DYNAMIC		0xffff
#define CATTR_DISABLE_SQFLOW	BIT(2)

static void fill_connect(struct nof_queue *queue, struct nof_cmd *cmd, struct nvmf_connect_data *data)
{
	struct nof_ctrl *ctrl = queue->ctrl;
	struct nvmf_connect_command *c = &cmd->sqe.connect;

	c->opcode = nvme_fabrics_command;
	c->fctype = nvme_fabrics_type_connect;
	c->qid = cpu_to_le16(queue->qid);
	c->sqsize = cpu_to_le16(queue->size - 1);
	if (!queue->qid)
		c->kato = cpu_to_le32(ctrl->opts.kato_ms);
	if (!ctrl->opts.sq_flow)
		c->cattr |= CATTR_DISABLE_SQFLOW;

	memcpy(&data->hostid, ctrl->opts.hostid, sizeof(data->hostid));
	data->cntlid = cpu_to_le16(queue->qid ? ctrl->cntlid : CNTLID_DYNAMIC);
	strscpy(data->subsysnqn, ctrl->opts.subsysnqn, sizeof(data->subsysnqn));
	strscpy(data->hostnqn, ctrl->opts.hostnqn, sizeof(data->hostnqn));
	cmd->buf = data;
	cmd->len = sizeof(*data);
	cmd->write = true;
}

static const char *connect_refusal(u16 status)
{
	switch (status & NVME_SCT_SC_MASK) {
	case NVME_SC_CONNECT_FORMAT:		return "record format not supported";
	case NVME_SC_CONNECT_CTRL_BUSY:		return "controller busy";
	case NVME_SC_CONNECT_INVALID_PARAM:	return "invalid parameter: does the subsystem NQN exist there?";
	case NVME_SC_CONNECT_RESTART_DISC:	return "restart discovery";
	case NVME_SC_CONNECT_INVALID_HOST:	return "host not allowed: is the host NQN on the subsystem's list?";
	case NVME_SC_AUTH_REQUIRED:		return "authentication required";
	default:				return nof_status_name(status);
	}
}

static int check_connect(struct nof_queue *queue, struct nof_cmd *cmd, int ret)
{
	struct nof_ctrl *ctrl = queue->ctrl;

	if (ret > 0) {
		nof_ctrl_note(ctrl, -ECONNREFUSED, ret, "target refused Connect of queue %u: %s", queue->qid,
			      connect_refusal(ret));
		return -ECONNREFUSED;
	}
	if (ret)
		return ret;
	if (le32_to_cpu(cmd->result.u32) & NVME_CONNECT_AUTHREQ_ASCR && !nof_auth_concatenates(queue)) {
		nof_ctrl_note(ctrl, -EKEYREJECTED, 0, ctrl->opts.concat ?
			      "target requires a secure channel on queue %u, which has one" :
			      "target requires a secure channel on queue %u: connect with concat", queue->qid);
		return -EKEYREJECTED;
	}
	queue->must_authenticate = le32_to_cpu(cmd->result.u32) &
				   (NVME_CONNECT_AUTHREQ_ATR | NVME_CONNECT_AUTHREQ_ASCR);
	/* SQHD FFFFh: the controller has disabled flow control (NVMe Base 2.0, 6.3) */
	if (!ctrl->opts.sq_flow && queue->sq_head == 0xffff)
		queue->sq_flow = false;
	if (!queue->qid) {
		ctrl->cntlid = le32_to_cpu(cmd->result.u32) & 0xffff;
		ctrl->sq_flow = queue->sq_flow;
	}
	return 0;
}

/* Returns 0 or a negative errno. The error has been recorded. */
int nof_fabrics_connect(struct nof_queue *queue)
{
	struct nvmf_connect_data *data;
	struct nof_cmd *cmd;
	int ret = -ENOMEM;

	cmd = kzalloc(sizeof(*cmd), GFP_NOIO);
	data = kzalloc(sizeof(*data), GFP_NOIO);
	if (!cmd || !data) {
		nof_ctrl_note(queue->ctrl, ret, 0, "queue %u: no memory for Connect", queue->qid);
		goto free;
	}
	fill_connect(queue, cmd, data);
	/* needs no admin slot: other commands are refused until NOF_Q_CONNECTED is set */
	ret = nof_queue_exec(queue, cmd, nof_ms_until(queue->deadline), NULL);
	ret = check_connect(queue, cmd, ret);
free:
	kfree(data);
	kfree(cmd);
	return ret;
}

/* A shorter timeout for a controller that is being deleted, unless the deletion waits for its firmware */
static u32 property_tmo_ms(const struct nof_ctrl *ctrl)
{
	if (nof_ctrl_state(ctrl) != NVMEOF_CTRL_DELETING || nof_ctrl_is_paused(ctrl))
		return ctrl->opts.connect_tmo_ms;
	return min(ctrl->opts.connect_tmo_ms, 2000U);
}

int nof_property_get(struct nof_ctrl *ctrl, u32 offset, bool wide, u64 *value)
{
	struct nof_cmd *cmd = kzalloc(sizeof(*cmd), GFP_NOIO);
	int ret;

	if (!cmd)
		return -ENOMEM;
	cmd->sqe.prop_get.opcode = nvme_fabrics_command;
	cmd->sqe.prop_get.fctype = nvme_fabrics_type_property_get;
	cmd->sqe.prop_get.attrib = wide;
	cmd->sqe.prop_get.offset = cpu_to_le32(offset);
	ret = nof_admin_exec(ctrl, cmd, property_tmo_ms(ctrl));
	*value = le64_to_cpu(cmd->result.u64);
	if (!wide)
		*value = lower_32_bits(*value);
	kfree(cmd);
	return ret;
}

int nof_property_set(struct nof_ctrl *ctrl, u32 offset, u32 value, bool *sent)
{
	struct nof_cmd *cmd = kzalloc(sizeof(*cmd), GFP_NOIO);
	int ret;

	if (!cmd)
		return -ENOMEM;
	cmd->sqe.prop_set.opcode = nvme_fabrics_command;
	cmd->sqe.prop_set.fctype = nvme_fabrics_type_property_set;
	cmd->sqe.prop_set.offset = cpu_to_le32(offset);
	cmd->sqe.prop_set.value = cpu_to_le64(value);
	ret = nof_admin_exec(ctrl, cmd, property_tmo_ms(ctrl));
	if (sent)
		*sent = ret != -ECONNRESET || cmd->maybe_executed;
	kfree(cmd);
	return ret;
}

/* Polls until (CSTS & mask) == want, every 1 ms at first, then less often; fails when the state changes */
static int wait_status(struct nof_ctrl *ctrl, u32 mask, u32 want, u32 timeout_ms)
{
	unsigned long deadline = jiffies + msecs_to_jiffies(timeout_ms);
	enum nvmeof_ctrl_state state = nof_ctrl_state(ctrl);
	u32 pause = 1;
	u64 csts;
	int ret;

	for (;;) {
		ret = nof_property_get(ctrl, NVME_REG_CSTS, false, &csts);
		if (ret)
			return ret;
		if ((csts & mask) == want)
			return 0;
		if (csts & NVME_CSTS_CFS)
			return -ENODEV;
		if (time_after(jiffies, deadline))
			return -ETIMEDOUT;
		if (wait_event_timeout(ctrl->state_wq, nof_ctrl_state(ctrl) != state, msecs_to_jiffies(pause)))
			return -ECANCELED;
		pause = min(pause * 2, 100U);
	}
}

static u32 ctrl_config(const struct nof_ctrl *ctrl)
{
	u32 cc = NVME_CC_ENABLE | NVME_CC_IOSQES | NVME_CC_IOCQES | NVME_CC_AMS_RR | NVME_CC_CSS_NVM;

	if (NVME_CAP_CSS(ctrl->cap) & NVME_CAP_CSS_CSI)
		cc |= NVME_CC_CSS_CSI;
	return cc | NVME_CAP_MPSMIN(ctrl->cap) << NVME_CC_MPS_SHIFT;
}

int nof_ctrl_enable(struct nof_ctrl *ctrl)
{
	u32 cc = ctrl_config(ctrl);
	int ret;

	ret = nof_property_set(ctrl, NVME_REG_CC, cc, NULL);
	if (!ret)
		ret = wait_status(ctrl, NVME_CSTS_RDY, NVME_CSTS_RDY, ctrl->ready_tmo_ms);
	if (ret)
		nof_ctrl_note(ctrl, ret > 0 ? -EIO : ret, ret > 0 ? ret : 0, "controller does not become ready");
	return ret > 0 ? -EIO : ret;
}

/* Requests a normal shutdown and waits for it. Best effort: a failure is ignored. */
void nof_ctrl_shutdown(struct nof_ctrl *ctrl)
{
	u32 cc = ctrl_config(ctrl) | NVME_CC_SHN_NORMAL;

	/* the controller may close its connections as soon as it receives the request */
	set_bit(NOF_CTRL_SHUTDOWN_SENT, &ctrl->flags);
	if (!nof_property_set(ctrl, NVME_REG_CC, cc, NULL))
		wait_status(ctrl, NVME_CSTS_SHST_MASK, NVME_CSTS_SHST_CMPLT, ctrl->shutdown_tmo_ms);
}
