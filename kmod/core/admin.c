// SPDX-License-Identifier: GPL-2.0-only
/* Admin commands: slots of the admin queue, and the driver's own commands. */
#include <linux/delay.h>
#include <linux/slab.h>
#include <linux/srcu.h>
#include "core/ctrl.h"
#include "core/lifecycle.h"
#include "core/queue.h"
#include "core/subsys.h"
#include "core/transport.h"

/*
 * Slots of the admin queue. Keep Alive and the Asynchronous Event Request have slots of their own, because they must
 * not wait for other commands. The driver does not wait for userspace, nor for unanswered Aborts, and privileged
 * userspace does not wait for unprivileged userspace.
 */
enum {
	NR_ABORTS = 4,
	NR_UNPRIVILEGED = 4,
	NR_USER = NOF_ADMIN_DEPTH - 12,
	NR_SHARED = NOF_ADMIN_DEPTH - 3,
};
static_assert(NR_ABORTS + NR_UNPRIVILEGED + NR_USER < NR_SHARED);

int nof_admin_init(struct nof_ctrl *ctrl)
{
	spin_lock_init(&ctrl->slots.lock);
	init_waitqueue_head(&ctrl->slots.wq);
	return 0;
}

static u32 max_slots(const struct nof_ctrl *ctrl, enum nof_admin_user kind)
{
	switch (kind) {
	case NOF_ADMIN_USER:	return NR_USER;
	case NOF_ADMIN_UNPRIVILEGED:	return NR_UNPRIVILEGED;
	case NOF_ADMIN_ABORT:	return min(ctrl->ident.acl + 1, NR_ABORTS);
	default:		return NR_SHARED;
	}
}

static bool slot_take(struct nof_ctrl *ctrl, enum nof_admin_user kind)
{
	unsigned long flags;
	u32 used = 0, i;
	bool free;

	spin_lock_irqsave(&ctrl->slots.lock, flags);
	for (i = 0; i < NOF_NR_ADMIN_USERS; i++)
		used += ctrl->slots.used[i];
	free = used < NR_SHARED && ctrl->slots.used[kind] < max_slots(ctrl, kind);
	ctrl->slots.used[kind] += free;
	spin_unlock_irqrestore(&ctrl->slots.lock, flags);
	return free;
}

static void slot_put(struct nof_ctrl *ctrl, enum nof_admin_user kind)
{
	unsigned long flags;

	spin_lock_irqsave(&ctrl->slots.lock, flags);
	ctrl->slots.used[kind]--;
	spin_unlock_irqrestore(&ctrl->slots.lock, flags);
	wake_up(&ctrl->slots.wq);
}

/* slots.users keeps the admin queue: nof_queues_free() waits for it after an SRCU grace period. */
static int admin_exec(struct nof_ctrl *ctrl, const u32 *connection, struct nof_cmd *cmd, u32 timeout_ms,
		      nof_exec_late_fn *late)
{
	struct nof_queue *queue;
	int idx, ret;

	atomic_inc(&ctrl->slots.users);
	idx = srcu_read_lock(&ctrl->subsys->srcu);
	queue = srcu_dereference(ctrl->queues.admin, &ctrl->subsys->srcu);
	srcu_read_unlock(&ctrl->subsys->srcu, idx);
	ret = queue && test_bit(NOF_Q_CONNECTED, &queue->flags) ? 0 : -ENOTCONN;
	/* it is raised before a new queue can be found */
	if (!ret && connection && *connection != READ_ONCE(ctrl->connection))
		ret = -ECONNRESET;
	if (!ret)
		ret = nof_queue_exec(queue, cmd, timeout_ms, late);
	if (atomic_dec_and_test(&ctrl->slots.users))
		wake_up(&ctrl->slots.wq);
	return ret;
}

/* Callers that wait for a slot count as well: the commands that hold the slots may be unanswered */
static void driver_begin(struct nof_ctrl *ctrl)
{
	if (!atomic_read(&ctrl->slots.driver))
		WRITE_ONCE(ctrl->slots.driver_at, jiffies);
	atomic_inc(&ctrl->slots.driver);
}

static void driver_end(struct nof_ctrl *ctrl)
{
	WRITE_ONCE(ctrl->slots.driver_at, jiffies);
	atomic_dec(&ctrl->slots.driver);
}

static int driver_exec(struct nof_ctrl *ctrl, const u32 *connection, struct nof_cmd *cmd, u32 timeout_ms)
{
	int ret;

	driver_begin(ctrl);
	wait_event(ctrl->slots.wq, slot_take(ctrl, NOF_ADMIN_DRIVER));
	ret = admin_exec(ctrl, connection, cmd, timeout_ms, NULL);
	driver_end(ctrl);
	slot_put(ctrl, NOF_ADMIN_DRIVER);
	return ret;
}

int nof_admin_exec(struct nof_ctrl *ctrl, struct nof_cmd *cmd, u32 timeout_ms)
{
	return driver_exec(ctrl, NULL, cmd, timeout_ms);
}

int nof_admin_exec_in(struct nof_ctrl *ctrl, u32 connection, struct nof_cmd *cmd, u32 timeout_ms)
{
	return driver_exec(ctrl, &connection, cmd, timeout_ms);
}

bool nof_admin_stuck(const struct nof_ctrl *ctrl, u32 ms)
{
	return atomic_read(&ctrl->slots.driver) &&
	       time_after(jiffies, READ_ONCE(ctrl->slots.driver_at) + msecs_to_jiffies(ms));
}

bool nof_admin_has_user(struct nof_ctrl *ctrl)
{
	return READ_ONCE(ctrl->slots.used[NOF_ADMIN_USER]);
}

int nof_admin_take(struct nof_ctrl *ctrl, enum nof_admin_user kind)
{
	return wait_event_killable(ctrl->slots.wq, slot_take(ctrl, kind)) ? -EINTR : 0;
}

/* The time limit of userspace has passed. Only the driver's own limit ends the association */
static void abort_late(struct nof_queue *queue, const struct nof_cmd *cmd)
{
	nof_send_abort(queue->ctrl, queue->qid, cmd->cid);
}

int nof_ctrl_exec_user(struct nof_ctrl *ctrl, struct nof_cmd *cmd, u32 timeout_ms)
{
	/* a discovery controller only serves readers of its log: if one gets no answer, recovery is started */
	return admin_exec(ctrl, NULL, cmd, timeout_ms, ctrl->discovery ? NULL : abort_late);
}

int nof_admin_submit(struct nof_ctrl *ctrl, struct nof_cmd *cmd)
{
	struct srcu_struct *srcu = &ctrl->subsys->srcu;
	struct nof_queue *queue;
	int idx, ret = -ENOTCONN;

	idx = srcu_read_lock(srcu);
	queue = srcu_dereference(ctrl->queues.admin, srcu);
	if (queue && test_bit(NOF_Q_CONNECTED, &queue->flags))
		ret = nof_queue_add(queue, cmd);
	if (!ret)
		ctrl->transport->queue_cmd(queue, cmd, true);
	srcu_read_unlock(srcu, idx);
	return ret;
}

static struct nof_cmd *new_cmd(u8 opcode, void *buf, u32 len, gfp_t gfp)
{
	struct nof_cmd *cmd = kzalloc(sizeof(*cmd), gfp);

	if (!cmd)
		return NULL;
	cmd->sqe.common.opcode = opcode;
	cmd->buf = buf;
	cmd->len = len;
	return cmd;
}

static struct nof_cmd *new_identify(u8 cns, u32 nsid, void *buf)
{
	struct nof_cmd *cmd = new_cmd(nvme_admin_identify, buf, NVME_IDENTIFY_DATA_SIZE, GFP_NOIO);

	if (cmd) {
		cmd->sqe.identify.nsid = cpu_to_le32(nsid);
		cmd->sqe.identify.cns = cns;
	}
	return cmd;
}

int nof_identify(struct nof_ctrl *ctrl, u8 cns, u32 nsid, void *buf)
{
	struct nof_cmd *cmd = new_identify(cns, nsid, buf);
	int ret;

	if (!cmd)
		return -ENOMEM;
	ret = nof_admin_exec(ctrl, cmd, 0);
	kfree(cmd);
	return ret;
}

int nof_identify_unprivileged(struct nof_ctrl *ctrl, u8 cns, u32 nsid, void *buf)
{
	struct nof_cmd *cmd;
	int ret;

	/* readers delay a deletion, and it does not wait for commands that make no progress: see nof_admin_stuck() */
	driver_begin(ctrl);
	ret = nof_admin_take(ctrl, NOF_ADMIN_UNPRIVILEGED);
	if (ret)
		goto end;
	cmd = new_identify(cns, nsid, buf);
	ret = cmd ? admin_exec(ctrl, NULL, cmd, 0, NULL) : -ENOMEM;
	kfree(cmd);
	slot_put(ctrl, NOF_ADMIN_UNPRIVILEGED);
end:
	driver_end(ctrl);
	return ret;
}

/* Until a command is tried again for which there were no resources of the transport, or no memory */
#define NO_RESOURCES_MS	20

/* One of several Identify commands that are outstanding together */
struct identify_cmd {
	struct nof_cmd		cmd;
	struct nof_identify	*what;
	struct identify_batch	*batch;
};

struct identify_batch {
	struct nof_ctrl		*ctrl;
	atomic_t		left;
	struct completion	done;
};

static void identify_done(struct nof_cmd *cmd)
{
	struct identify_cmd *one = container_of(cmd, struct identify_cmd, cmd);
	struct identify_batch *batch = one->batch;

	one->what->ret = cmd->status == NVME_SC_HOST_ABORTED_CMD ? -ECONNRESET : cmd->status;
	WRITE_ONCE(batch->ctrl->slots.driver_at, jiffies);
	slot_put(batch->ctrl, NOF_ADMIN_DRIVER);
	kfree(one);
	/* last: the waiter has @batch on its stack */
	if (atomic_dec_and_test(&batch->left))
		complete(&batch->done);
}

static int identify_send(struct identify_batch *batch, struct nof_identify *what)
{
	struct identify_cmd *one = kzalloc(sizeof(*one), GFP_NOIO);
	int ret = -ENOMEM;

	if (!one)
		goto leave;
	one->what = what;
	one->batch = batch;
	one->cmd.sqe.identify.opcode = nvme_admin_identify;
	one->cmd.sqe.identify.nsid = cpu_to_le32(what->nsid);
	one->cmd.sqe.identify.cns = what->cns;
	one->cmd.sqe.identify.csi = what->csi;
	one->cmd.buf = what->buf;
	one->cmd.len = NVME_IDENTIFY_DATA_SIZE;
	one->cmd.done = identify_done;
	atomic_inc(&batch->left);
	ret = nof_admin_submit(batch->ctrl, &one->cmd);
	if (!ret)
		return 0;
	atomic_dec(&batch->left);
	kfree(one);
leave:
	slot_put(batch->ctrl, NOF_ADMIN_DRIVER);
	return ret;
}

/*
 * Sends as many commands as get a slot, waits for the first slot only, then for all commands. Returns how many: 0 if
 * there are no resources for any, which is temporary.
 */
static u32 identify_some(struct identify_batch *batch, struct nof_identify *list, u32 nr)
{
	struct nof_ctrl *ctrl = batch->ctrl;
	u32 sent = 0;
	int ret;

	/* one count for the sender: the batch does not complete before all of it is sent */
	atomic_set(&batch->left, 1);
	reinit_completion(&batch->done);
	wait_event(ctrl->slots.wq, slot_take(ctrl, NOF_ADMIN_DRIVER));
	do {
		ret = identify_send(batch, &list[sent]);
		if (ret == -EAGAIN || ret == -ENOMEM)
			break;
		if (ret)
			list[sent].ret = ret;
		sent++;
	} while (!ret && sent < nr && slot_take(ctrl, NOF_ADMIN_DRIVER));
	if (!atomic_dec_and_test(&batch->left))
		nof_queue_wait(ctrl, nvme_admin_identify, &batch->done);
	return sent;
}

int nof_identify_many(struct nof_ctrl *ctrl, struct nof_identify *list, u32 nr)
{
	struct identify_batch batch = { .ctrl = ctrl };
	unsigned long progress_at = jiffies;
	u32 done = 0, sent, end;
	int ret = 0;

	init_completion(&batch.done);
	driver_begin(ctrl);
	while (!ret && done < nr) {
		sent = identify_some(&batch, list + done, nr - done);
		if (sent)
			progress_at = jiffies;
		else if (time_after(jiffies, progress_at + msecs_to_jiffies(nof_ctrl_command_tmo_ms(ctrl))))
			ret = -ETIMEDOUT;
		else
			msleep(NO_RESOURCES_MS);
		for (end = done + sent; done < end; done++)
			ret = ret ?: min(list[done].ret, 0);
	}
	driver_end(ctrl);
	return ret;
}

/* @len is a multiple of 4; NUMD counts dwords, zero based (NVMe Base 2.0, 5.16) */
static int get_log(struct nof_ctrl *ctrl, u8 lid, u8 lsp, u8 csi, u64 offset, void *buf, u32 len)
{
	struct nof_cmd *cmd = new_cmd(nvme_admin_get_log_page, buf, len, GFP_NOIO);
	u32 dwords = len / 4 - 1;
	int ret;

	if (!cmd)
		return -ENOMEM;
	cmd->sqe.get_log_page.nsid = cpu_to_le32(NVME_NSID_ALL);
	cmd->sqe.get_log_page.lid = lid;
	cmd->sqe.get_log_page.lsp = lsp;
	cmd->sqe.get_log_page.numdl = cpu_to_le16(dwords & 0xffff);
	cmd->sqe.get_log_page.numdu = cpu_to_le16(dwords >> 16);
	cmd->sqe.get_log_page.lpol = cpu_to_le32(lower_32_bits(offset));
	cmd->sqe.get_log_page.lpou = cpu_to_le32(upper_32_bits(offset));
	cmd->sqe.get_log_page.csi = csi;
	ret = nof_admin_exec(ctrl, cmd, 0);
	kfree(cmd);
	return ret;
}

int nof_get_log(struct nof_ctrl *ctrl, u8 lid, u8 lsp, u64 offset, void *buf, u32 len)
{
	return get_log(ctrl, lid, lsp, 0, offset, buf, len);
}

int nof_get_effects(struct nof_ctrl *ctrl, u8 csi, struct nvme_effects_log *log)
{
	return get_log(ctrl, NVME_LOG_CMD_EFFECTS, 0, csi, 0, log, sizeof(*log));
}

static int admin_features(struct nof_ctrl *ctrl, u8 opcode, u8 fid, u32 dword11, u32 *result, void *buf, u32 len)
{
	struct nof_cmd *cmd = new_cmd(opcode, buf, len, GFP_NOIO);
	int ret;

	if (!cmd)
		return -ENOMEM;
	cmd->write = buf;
	cmd->sqe.features.fid = cpu_to_le32(fid);
	cmd->sqe.features.dword11 = cpu_to_le32(dword11);
	ret = nof_admin_exec(ctrl, cmd, 0);
	if (!ret && result)
		*result = le32_to_cpu(cmd->result.u32);
	kfree(cmd);
	return ret;
}

int nof_set_features(struct nof_ctrl *ctrl, u8 fid, u32 dword11, u32 *result)
{
	return admin_features(ctrl, nvme_admin_set_features, fid, dword11, result, NULL, 0);
}

int nof_get_features(struct nof_ctrl *ctrl, u8 fid, u32 *result)
{
	return admin_features(ctrl, nvme_admin_get_features, fid, 0, result, NULL, 0);
}

int nof_set_host_behavior(struct nof_ctrl *ctrl)
{
	bool delays = ctrl->ident.crdt[0] || ctrl->ident.crdt[1] || ctrl->ident.crdt[2];
	bool formats = ctrl->ident.ctratt & NVME_CTRL_ATTR_ELBAS;
	struct nvme_feat_host_behavior *host;
	int ret;

	if (!delays && !formats)
		return 0;
	host = kzalloc(sizeof(*host), GFP_NOIO);
	if (!host)
		return -ENOMEM;
	host->acre = delays ? NVME_ENABLE_ACRE : 0;
	host->lbafee = formats;
	ret = admin_features(ctrl, nvme_admin_set_features, NVME_FEAT_HOST_BEHAVIOR, 0, NULL, host, sizeof(*host));
	kfree(host);
	return min(ret, 0);
}

/* Sends a command without waiting for a slot; -EBUSY if none is free */
static int send_as(struct nof_ctrl *ctrl, struct nof_cmd *cmd, enum nof_admin_user kind)
{
	int ret;

	if (!slot_take(ctrl, kind))
		return -EBUSY;
	ret = nof_admin_submit(ctrl, cmd);
	if (ret)
		slot_put(ctrl, kind);
	return ret;
}

int nof_admin_send(struct nof_ctrl *ctrl, struct nof_cmd *cmd)
{
	return send_as(ctrl, cmd, NOF_ADMIN_DRIVER);
}

void nof_admin_leave(struct nof_ctrl *ctrl, enum nof_admin_user kind)
{
	slot_put(ctrl, kind);
}

static void abort_done(struct nof_cmd *cmd)
{
	slot_put(cmd->ctx, NOF_ADMIN_ABORT);
	kfree(cmd);
}

/*
 * Best effort: whether the command was aborted shows in its own completion. Without a free slot nothing is sent, and
 * the next timeout of the command resets the association.
 */
void nof_send_abort(struct nof_ctrl *ctrl, u16 sqid, u16 cid)
{
	/* may run in an SRCU read section, for which recovery waits: no wait for memory, i.e. for writeback */
	struct nof_cmd *cmd = new_cmd(nvme_admin_abort_cmd, NULL, 0, GFP_NOWAIT | __GFP_NOWARN);

	if (!cmd)
		return;
	cmd->sqe.abort.sqid = cpu_to_le16(sqid);
	cmd->sqe.abort.cid = (__force __u16)cpu_to_le16(cid);
	cmd->done = abort_done;
	cmd->ctx = ctrl;
	if (send_as(ctrl, cmd, NOF_ADMIN_ABORT))
		kfree(cmd);
}
