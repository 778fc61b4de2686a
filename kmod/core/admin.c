// SPDX-License-Identifier: GPL-2.0-only
/* Commands of the driver's own on the admin queue. */
#include <linux/slab.h>
#include <linux/srcu.h>
#include "core/lifecycle.h"
#include "core/subsys.h"
#include "core/transport.h"
#include "core/watch.h"

/*
 * Places in the admin queue. Keep-alive and the asynchronous event request have theirs apart, as they may not wait for
 * others; what the driver has to know does not wait for userspace, nor for Aborts that stay unanswered; and those of
 * userspace that have the privilege do not wait for those that have not.
 */
enum {
	NR_ABORTS = 4,
	NR_GUESTS = 4,
	NR_USER = NOF_ADMIN_DEPTH - 12,
	NR_SHARED = NOF_ADMIN_DEPTH - 3,
};
static_assert(NR_ABORTS + NR_GUESTS + NR_USER < NR_SHARED);

int nof_admin_init(struct nof_ctrl *ctrl)
{
	spin_lock_init(&ctrl->places_lock);
	init_waitqueue_head(&ctrl->places_wq);
	return 0;
}

static u32 most(const struct nof_ctrl *ctrl, enum nof_place kind)
{
	switch (kind) {
	case NOF_PLACE_USER:	return NR_USER;
	case NOF_PLACE_GUEST:	return NR_GUESTS;
	case NOF_PLACE_ABORT:	return min(ctrl->acl + 1, NR_ABORTS);
	default:		return NR_SHARED;
	}
}

static bool take_place(struct nof_ctrl *ctrl, enum nof_place kind)
{
	unsigned long flags;
	u32 used = 0, i;
	bool free;

	spin_lock_irqsave(&ctrl->places_lock, flags);
	for (i = 0; i < NOF_NR_PLACES; i++)
		used += ctrl->places[i];
	free = used < NR_SHARED && ctrl->places[kind] < most(ctrl, kind);
	ctrl->places[kind] += free;
	spin_unlock_irqrestore(&ctrl->places_lock, flags);
	return free;
}

static void leave_place(struct nof_ctrl *ctrl, enum nof_place kind)
{
	unsigned long flags;

	spin_lock_irqsave(&ctrl->places_lock, flags);
	ctrl->places[kind]--;
	spin_unlock_irqrestore(&ctrl->places_lock, flags);
	wake_up(&ctrl->places_wq);
}

/* The admin queue cannot go away while a caller in process context uses it: see queues_lock and SRCU in queues.c. */
static int admin_exec(struct nof_ctrl *ctrl, struct nof_cmd *cmd, u32 timeout_ms, nof_exec_late_fn *late)
{
	struct nof_queue *queue;
	int idx, ret;

	atomic_inc(&ctrl->admin_users);
	idx = srcu_read_lock(&ctrl->subsys->srcu);
	queue = srcu_dereference(ctrl->admin, &ctrl->subsys->srcu);
	srcu_read_unlock(&ctrl->subsys->srcu, idx);
	ret = queue && test_bit(NOF_Q_CONNECTED, &queue->flags) ? nof_queue_exec(queue, cmd, timeout_ms, late) :
								  -ENOTCONN;
	if (atomic_dec_and_test(&ctrl->admin_users))
		wake_up(&ctrl->places_wq);
	return ret;
}

/* Who waits for a place counts as well: those before may get no answer */
static void own_begin(struct nof_ctrl *ctrl)
{
	if (!atomic_read(&ctrl->own_cmds))
		WRITE_ONCE(ctrl->own_at, jiffies);
	atomic_inc(&ctrl->own_cmds);
}

static void own_end(struct nof_ctrl *ctrl)
{
	WRITE_ONCE(ctrl->own_at, jiffies);
	atomic_dec(&ctrl->own_cmds);
}

int nof_ctrl_exec(struct nof_ctrl *ctrl, struct nof_cmd *cmd, u32 timeout_ms)
{
	int ret;

	own_begin(ctrl);
	wait_event(ctrl->places_wq, take_place(ctrl, NOF_PLACE_OWN));
	ret = admin_exec(ctrl, cmd, timeout_ms, NULL);
	own_end(ctrl);
	leave_place(ctrl, NOF_PLACE_OWN);
	return ret;
}

bool nof_admin_stuck(const struct nof_ctrl *ctrl, u32 ms)
{
	return atomic_read(&ctrl->own_cmds) &&
	       time_after(jiffies, READ_ONCE(ctrl->own_at) + msecs_to_jiffies(ms));
}

bool nof_admin_has_user(struct nof_ctrl *ctrl)
{
	return READ_ONCE(ctrl->places[NOF_PLACE_USER]);
}

int nof_admin_take(struct nof_ctrl *ctrl, enum nof_place kind)
{
	return wait_event_killable(ctrl->places_wq, take_place(ctrl, kind)) ? -EINTR : 0;
}

/* Too late for its sender. Whether the association has to end for it is decided by the driver's own limit */
static void abort_late(struct nof_queue *queue, const struct nof_cmd *cmd)
{
	nof_send_abort(queue->ctrl, queue->qid, cmd->cid);
}

int nof_ctrl_exec_user(struct nof_ctrl *ctrl, struct nof_cmd *cmd, u32 timeout_ms)
{
	/* a discovery controller serves nobody but those who read its log: for one that does not answer it is lost */
	return admin_exec(ctrl, cmd, timeout_ms, ctrl->discovery ? NULL : abort_late);
}

int nof_admin_submit(struct nof_ctrl *ctrl, struct nof_cmd *cmd)
{
	struct srcu_struct *srcu = &ctrl->subsys->srcu;
	struct nof_queue *queue;
	int idx, ret = -ENOTCONN;

	idx = srcu_read_lock(srcu);
	queue = srcu_dereference(ctrl->admin, srcu);
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

int nof_identify(struct nof_ctrl *ctrl, u8 cns, u32 nsid, void *buf)
{
	struct nof_cmd *cmd = new_cmd(nvme_admin_identify, buf, NVME_IDENTIFY_DATA_SIZE, GFP_NOIO);
	int ret;

	if (!cmd)
		return -ENOMEM;
	cmd->sqe.identify.nsid = cpu_to_le32(nsid);
	cmd->sqe.identify.cns = cns;
	ret = nof_ctrl_exec(ctrl, cmd, 0);
	kfree(cmd);
	return ret;
}

/* One of many that are outstanding together */
struct one {
	struct nof_cmd		cmd;
	struct nof_identify	*what;
	struct many		*many;
};

struct many {
	struct nof_ctrl		*ctrl;
	atomic_t		left;
	struct completion	done;
};

static void identify_done(struct nof_cmd *cmd)
{
	struct one *one = container_of(cmd, struct one, cmd);
	struct many *many = one->many;

	one->what->ret = cmd->status == NVME_SC_HOST_ABORTED_CMD ? -ECONNRESET : cmd->status;
	WRITE_ONCE(many->ctrl->own_at, jiffies);
	leave_place(many->ctrl, NOF_PLACE_OWN);
	kfree(one);
	/* last: who waits for it has the rest on its stack */
	if (atomic_dec_and_test(&many->left))
		complete(&many->done);
}

static int identify_send(struct many *many, struct nof_identify *what)
{
	struct one *one = kzalloc(sizeof(*one), GFP_NOIO);
	int ret = -ENOMEM;

	if (!one)
		goto leave;
	one->what = what;
	one->many = many;
	one->cmd.sqe.identify.opcode = nvme_admin_identify;
	one->cmd.sqe.identify.nsid = cpu_to_le32(what->nsid);
	one->cmd.sqe.identify.cns = what->cns;
	one->cmd.sqe.identify.csi = what->csi;
	one->cmd.buf = what->buf;
	one->cmd.len = NVME_IDENTIFY_DATA_SIZE;
	one->cmd.done = identify_done;
	atomic_inc(&many->left);
	ret = nof_admin_submit(many->ctrl, &one->cmd);
	if (!ret)
		return 0;
	atomic_dec(&many->left);
	kfree(one);
leave:
	leave_place(many->ctrl, NOF_PLACE_OWN);
	return ret;
}

/* As many as find a place, the first of which is waited for. Returns how many of them are done. */
static u32 identify_some(struct many *many, struct nof_identify *list, u32 nr)
{
	struct nof_ctrl *ctrl = many->ctrl;
	u32 sent = 0;
	int ret;

	/* ours: what was sent is not all done before all of it is sent */
	atomic_set(&many->left, 1);
	reinit_completion(&many->done);
	wait_event(ctrl->places_wq, take_place(ctrl, NOF_PLACE_OWN));
	do {
		ret = identify_send(many, &list[sent]);
		if (ret)
			list[sent].ret = ret;
		sent++;
	} while (!ret && sent < nr && take_place(ctrl, NOF_PLACE_OWN));
	if (!atomic_dec_and_test(&many->left))
		nof_queue_wait(ctrl, nvme_admin_identify, &many->done);
	return sent;
}

int nof_identify_many(struct nof_ctrl *ctrl, struct nof_identify *list, u32 nr)
{
	struct many many = { .ctrl = ctrl };
	u32 done = 0, end;
	int ret = 0;

	init_completion(&many.done);
	own_begin(ctrl);
	while (!ret && done < nr)
		for (end = done + identify_some(&many, list + done, nr - done); done < end; done++)
			ret = ret ?: min(list[done].ret, 0);
	own_end(ctrl);
	return ret;
}

/* @len is a multiple of 4; the spec counts dwords, zero based (NVMe Base 2.0, 5.16) */
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
	ret = nof_ctrl_exec(ctrl, cmd, 0);
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
	ret = nof_ctrl_exec(ctrl, cmd, 0);
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

int nof_tell_host_behavior(struct nof_ctrl *ctrl)
{
	bool delays = ctrl->crdt[0] || ctrl->crdt[1] || ctrl->crdt[2], formats = ctrl->ctratt & NVME_CTRL_ATTR_ELBAS;
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

/* At once, or not at all */
static int send_as(struct nof_ctrl *ctrl, struct nof_cmd *cmd, enum nof_place kind)
{
	int ret;

	if (!take_place(ctrl, kind))
		return -EBUSY;
	ret = nof_admin_submit(ctrl, cmd);
	if (ret)
		leave_place(ctrl, kind);
	return ret;
}

int nof_admin_send(struct nof_ctrl *ctrl, struct nof_cmd *cmd)
{
	return send_as(ctrl, cmd, NOF_PLACE_OWN);
}

void nof_admin_leave(struct nof_ctrl *ctrl, enum nof_place kind)
{
	leave_place(ctrl, kind);
}

static void abort_done(struct nof_cmd *cmd)
{
	leave_place(cmd->ctx, NOF_PLACE_ABORT);
	kfree(cmd);
}

/*
 * Best effort: whether the command was aborted shows in its own completion. Where no place is free nothing is sent, and
 * the next timeout of the command resets the association.
 */
void nof_send_abort(struct nof_ctrl *ctrl, u16 sqid, u16 cid)
{
	/* In an SRCU read section: memory may wait for writeback, that for a recovery, and this for the section */
	struct nof_cmd *cmd = new_cmd(nvme_admin_abort_cmd, NULL, 0, GFP_NOWAIT | __GFP_NOWARN);

	if (!cmd)
		return;
	cmd->sqe.abort.sqid = cpu_to_le16(sqid);
	cmd->sqe.abort.cid = (__force __u16)cpu_to_le16(cid);
	cmd->done = abort_done;
	cmd->ctx = ctrl;
	if (send_as(ctrl, cmd, NOF_PLACE_ABORT))
		kfree(cmd);
}
