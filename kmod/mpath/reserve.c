// SPDX-License-Identifier: GPL-2.0-only
#include <linux/blkdev.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include "core/ctrl.h"
#include "core/subsys.h"
#include "mpath/command.h"
#include "mpath/complete.h"
#include "mpath/head.h"
#include "mpath/request.h"
#include "mpath/reserve.h"
#include "wire/reservation.h"
#include "wire/status.h"

static_assert(sizeof(struct nvme_reservation_status_ext) == NOF_RESV_ENTRY);
static_assert(sizeof(struct nvme_registered_ctrl_ext) == NOF_RESV_ENTRY);

/* Size of the first read, enough for 63 registrants */
#define REPORT_BYTES	4096
/* Further reads of a report that grows meanwhile */
#define REPORT_TRIES	4

static struct nof_head *head_of(struct block_device *bdev)
{
	return bdev->bd_disk->private_data;
}

/**
 * struct report - reservation report
 * @data:	kmalloc'ed; @len bytes
 * @is:		decoded for this host
 */
struct report {
	struct nvme_reservation_status_ext	*data;
	u32					len;
	struct nof_resv				is;
};

static int resv_report_refuse(struct nof_head *head, const char *why)
{
	pr_warn_ratelimited("nvmeof: %s: %s\n", nof_head_name(head), why);
	return -EPROTO;
}

/* Reads @len bytes; the report may be longer. Returns 0, an NVMe status, or a negative errno. */
static int report_some(struct nof_head *head, struct report *r, u32 len)
{
	struct nof_command cmd = { .len = len, .retry = NOF_CMD_RETRY_ALWAYS };
	const char *why;
	int ret;

	kfree(r->data);
	r->len = len;
	r->data = kzalloc(len, GFP_NOIO | __GFP_NOWARN);
	if (!r->data)
		return -ENOMEM;
	cmd.buf = r->data;
	cmd.sqe.common.opcode = nvme_cmd_resv_report;
	cmd.sqe.common.cdw10 = cpu_to_le32(len / 4 - 1);
	cmd.sqe.common.cdw11 = cpu_to_le32(NOF_RESV_EXTENDED);
	ret = nof_command_exec(head, &cmd);
	if (ret)
		return ret;
	why = nof_resv_decode(r->data, len, head->subsys->hostid, &r->is);
	return why ? resv_report_refuse(head, why) : 0;
}

/* Reads the whole report. The caller has to kfree() @r->data, also on failure. */
static int resv_report_read(struct nof_head *head, struct report *r)
{
	u32 most = READ_ONCE(head->limits.max_bytes), tries;
	int ret = report_some(head, r, min_t(u32, REPORT_BYTES, most));

	for (tries = 0; !ret && !nof_resv_is_complete(&r->is, r->len); tries++) {
		u32 len = NOF_RESV_BYTES((u32)r->is.nr);

		if (len > most || tries == REPORT_TRIES)
			return resv_report_refuse(head,
						  "reservation report exceeds the transfer size, or keeps growing");
		ret = report_some(head, r, len);
	}
	return ret;
}

/**
 * struct change - a command that changes reservations
 * @cmd:	without data pointer
 * @keys:	data of the command: this host's key, and the key that it sets or preempts
 * @before:	report from before the command was sent, valid if @known
 * @others:	reserve.passthru_seq of the head before that report
 */
struct change {
	struct nof_command	cmd;
	enum nof_resv_act	act;
	u8			type;
	bool			known;
	struct nof_resv		before;
	int			others;
	__le64			keys[2];
};

/* Reads the state before the command is sent. If that fails, less can be decided after a loss. */
static void change_look(struct nof_head *head, struct change *c)
{
	struct report r = { };

	c->others = atomic_read(&head->reserve.passthru_seq);
	c->known = !resv_report_read(head, &r);
	c->before = r.is;
	kfree(r.data);
}

/* The command may have been executed, and its fence has ended: decides what to do */
static enum nof_resv_verdict change_judge(struct nof_head *head, struct change *c)
{
	u64 other = le64_to_cpu(c->keys[1]);
	struct report r = { };
	enum nof_resv_verdict verdict = NOF_RESV_UNKNOWN;
	bool victim;
	int others;

	if (!resv_report_read(head, &r)) {
		victim = nof_resv_has_registrant(r.data, r.is.nr, head->subsys->hostid, other);
		verdict = nof_resv_judge(c->act, c->known ? &c->before : NULL, &r.is, victim, other, c->type);
		/* passthrough takes no lock: the reported state may be the effect of a passthrough command */
		others = atomic_read(&head->reserve.passthru_seq);
		if (verdict == NOF_RESV_AGAIN && others != c->others)
			verdict = NOF_RESV_UNKNOWN;
		c->others = others;
		c->before = r.is;
		c->known = true;
	}
	kfree(r.data);
	return verdict;
}

/*
 * Retries are bounded by time after lost connections, as for any request, and by number after errors that do not tell
 * whether the command was executed.
 */
static int change_send(struct nof_head *head, struct change *c)
{
	unsigned long end = jiffies + msecs_to_jiffies(NOF_DEF_CTRL_LOSS_TMO_MS);
	u32 answers = 0;
	int ret;

	change_look(head, c);
	for (;;) {
		ret = nof_command_exec(head, &c->cmd);
		if (ret != -ESTALE && (ret <= 0 || !nof_status_in_doubt(ret)))
			return ret;
		switch (change_judge(head, c)) {
		case NOF_RESV_DONE:
			return 0;
		case NOF_RESV_AGAIN:
			break;
		default:
			pr_warn_ratelimited("nvmeof: %s: a lost reservation command may have been executed\n",
					    nof_head_name(head));
			return -ESTALE;
		}
		if (ret > 0 && ++answers > NOF_MAX_RETRIES)
			return ret;
		if (fatal_signal_pending(current) || time_after(jiffies, end))
			return -ESTALE;
	}
}

static u8 opcode_of(enum nof_resv_act act)
{
	switch (act) {
	case NOF_RESV_ACQUIRE:
	case NOF_RESV_PREEMPT:
		return nvme_cmd_resv_acquire;
	case NOF_RESV_RELEASE:
	case NOF_RESV_CLEAR:
		return nvme_cmd_resv_release;
	default:
		return nvme_cmd_resv_register;
	}
}

/* @action: dword 10 of the command without the type. Returns 0, an NVMe status, or a negative errno. */
static int reserve_change(struct nof_head *head, enum nof_resv_act act, u32 action, u8 type, u64 key, u64 other)
{
	struct change *c = kzalloc(sizeof(*c), GFP_NOIO);
	int ret;

	if (!c)
		return -ENOMEM;
	/* one at a time: this host then changes nothing else between the reports before and after the command */
	ret = mutex_lock_killable(&head->reserve.lock);
	if (ret)
		goto free;
	c->act = act;
	c->type = type;
	c->keys[0] = cpu_to_le64(key);
	c->keys[1] = cpu_to_le64(other);
	c->cmd.buf = c->keys;
	c->cmd.write = true;
	c->cmd.retry = NOF_CMD_RETRY_UNSENT;
	c->cmd.sqe.common.opcode = opcode_of(act);
	c->cmd.len = opcode_of(act) == nvme_cmd_resv_release ? sizeof(c->keys[0]) : sizeof(c->keys);
	c->cmd.sqe.common.cdw10 = cpu_to_le32(action | type << NOF_RESV_TYPE_SHIFT);
	ret = change_send(head, c);
	mutex_unlock(&head->reserve.lock);
free:
	kfree(c);
	return ret;
}

static bool is_conflict(int ret)
{
	return ret > 0 && (ret & NVME_SCT_SC_MASK) == NVME_SC_RESERVATION_CONFLICT;
}

/* Converts the result for callers of pr_ops: enum pr_status or a negative errno */
static int reserve_errno(int ret)
{
	if (is_conflict(ret))
		return PR_STS_RESERVATION_CONFLICT;
	switch (ret > 0 ? nof_status_errno(ret) : ret) {
	case 0:
		return PR_STS_SUCCESS;
	case -ENOLINK:
		return PR_STS_PATH_FAILED;
	case -ESTALE:
		return PR_STS_RETRY_PATH_FAILURE;
	case -EOPNOTSUPP:
		return ret > 0 && (ret & NVME_SCT_SC_MASK) == NVME_SC_INVALID_FIELD ? -EINVAL : -EOPNOTSUPP;
	default:
		return ret > 0 ? PR_STS_IOERR : ret;
	}
}

/* Returns 0 if the namespace supports this reservation type, or a negative errno */
static int check_type(const struct nof_head *head, enum pr_type type)
{
	u8 rescap = READ_ONCE(head->format.rescap);

	if (rescap && (type < NOF_RESV_TYPE_MIN || type > NOF_RESV_TYPE_MAX))
		return -EINVAL;
	return rescap & BIT(type) & NOF_RESCAP_TYPES ? 0 : -EOPNOTSUPP;
}

static u32 reserve_cptpl(const struct nof_head *head)
{
	return READ_ONCE(head->format.rescap) & NOF_RESCAP_PERSISTS ? NOF_RESV_PERSIST : 0;
}

/*
 * Registers this host or, given its present key, replaces that. A new key of 0 unregisters. Because IEKEY requires a
 * registered host, a registration that ignores the present key first tries to register, then to replace.
 */
static int pr_register(struct block_device *bdev, u64 old_key, u64 new_key, u32 flags)
{
	struct nof_head *head = head_of(bdev);
	u32 ignore = flags & PR_FL_IGNORE_KEY ? NOF_RESV_IGNORE_KEY : 0;
	int ret;

	if (!READ_ONCE(head->format.rescap) || flags & ~PR_FL_IGNORE_KEY)
		return -EOPNOTSUPP;
	if (!new_key)
		return reserve_errno(reserve_change(head, NOF_RESV_UNREGISTER, 1 | ignore, 0, old_key, 0));
	if (old_key && !ignore)
		return reserve_errno(reserve_change(head, NOF_RESV_REPLACE, 2 | reserve_cptpl(head), 0, old_key,
						    new_key));
	ret = reserve_change(head, NOF_RESV_REGISTER, reserve_cptpl(head), 0, 0, new_key);
	if (ignore && is_conflict(ret))
		ret = reserve_change(head, NOF_RESV_REPLACE, 2 | ignore | reserve_cptpl(head), 0, 0, new_key);
	return reserve_errno(ret);
}

static int pr_reserve(struct block_device *bdev, u64 key, enum pr_type type, u32 flags)
{
	struct nof_head *head = head_of(bdev);
	int ret = flags ? -EOPNOTSUPP : check_type(head, type);

	return ret ?: reserve_errno(reserve_change(head, NOF_RESV_ACQUIRE, 0, type, key, 0));
}

static int pr_release(struct block_device *bdev, u64 key, enum pr_type type)
{
	struct nof_head *head = head_of(bdev);

	return check_type(head, type) ?: reserve_errno(reserve_change(head, NOF_RESV_RELEASE, 0, type, key, 0));
}

/* The parameter names in linux/pr.h are swapped: all callers and drivers pass this host's own key first */
static int pr_preempt(struct block_device *bdev, u64 key, u64 victim, enum pr_type type, bool abort)
{
	struct nof_head *head = head_of(bdev);

	return check_type(head, type) ?:
	       reserve_errno(reserve_change(head, NOF_RESV_PREEMPT, abort ? 2 : 1, type, key, victim));
}

static int pr_clear(struct block_device *bdev, u64 key)
{
	struct nof_head *head = head_of(bdev);

	if (!READ_ONCE(head->format.rescap))
		return -EOPNOTSUPP;
	return reserve_errno(reserve_change(head, NOF_RESV_CLEAR, 1, 0, key, 0));
}

/* As resv_report_read(), if the namespace supports reservations */
static int __maybe_unused pr_report(struct block_device *bdev, struct report *r)
{
	struct nof_head *head = head_of(bdev);

	return READ_ONCE(head->format.rescap) ? resv_report_read(head, r) : -EOPNOTSUPP;
}

static int __maybe_unused pr_read_keys(struct block_device *bdev, struct pr_keys *keys)
{
	struct report r = { };
	int ret = pr_report(bdev, &r);

	if (!ret) {
		keys->generation = r.is.gen;
		keys->num_keys = nof_resv_keys(r.data, r.is.nr, keys->keys, keys->num_keys);
	}
	kfree(r.data);
	return reserve_errno(ret);
}

static int __maybe_unused pr_read_reservation(struct block_device *bdev, struct pr_held_reservation *held)
{
	struct report r = { };
	int ret = pr_report(bdev, &r);

	if (!ret) {
		held->generation = r.is.gen;
		held->type = r.is.type;
		held->key = r.is.holder;
	}
	kfree(r.data);
	return reserve_errno(ret);
}

const struct pr_ops nof_reserve_ops = {
	.pr_register	= pr_register,
	.pr_reserve	= pr_reserve,
	.pr_release	= pr_release,
	.pr_preempt	= pr_preempt,
	.pr_clear	= pr_clear,
	NOF_PR_READ_OPS(pr_read_keys, pr_read_reservation)
};
