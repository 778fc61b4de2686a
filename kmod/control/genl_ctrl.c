// SPDX-License-Identifier: GPL-2.0-only
/* Netlink commands on controllers. */
#include "control/genl.h"
#include "control/opts.h"
#include "control/put.h"
#include "core/ctrl.h"
#include "core/event.h"
#include "core/subsys.h"

/* Names are used again: where the policy lets it, who found one in a list may say of which subsystem it was */
static struct nof_ctrl *genl_ctrl_find(struct genl_info *info)
{
	struct nof_ctrl *ctrl = nof_object_find(info, NVMEOF_A_CTRL_NAME);
	struct nlattr *nqn = info->attrs[NVMEOF_A_SUBSYSNQN];

	if (!IS_ERR(ctrl) && nqn && nla_strcmp(nqn, ctrl->opts.subsysnqn)) {
		nof_genl_bad(info->extack, nqn, "the controller of this name is of another subsystem");
		nof_ctrl_put(ctrl);
		return ERR_PTR(-ENODEV);
	}
	return ctrl;
}

/*
 * Refused because there is one already: an answer with its name goes before the error, so that the caller can use it.
 */
static int reply_existing(struct nof_reply *reply, struct genl_info *info, const char *found)
{
	if (nla_put_string(reply->skb, NVMEOF_A_CTRL_NAME, found))
		nlmsg_free(reply->skb);
	else
		nof_reply_send(reply, info);
	return -EALREADY;
}

int nof_genl_ctrl_new(struct sk_buff *skb, struct genl_info *info)
{
	char found[NVMEOF_NAME_MAX + 1] = "";
	struct nof_reply reply;
	struct nof_opts *opts;
	struct nof_ctrl *ctrl;
	int err;

	opts = kmalloc(sizeof(*opts), GFP_KERNEL);	/* too large for the stack */
	if (!opts)
		return -ENOMEM;
	/* The answer's memory first: a controller that cannot be announced would have to be deleted again. */
	err = nof_opts_parse(opts, info) ?: nof_reply_begin(&reply, info);
	if (err)
		goto free_opts;

	ctrl = nof_ctrl_create(opts, found, info->extack);
	if (ctrl == ERR_PTR(-EALREADY) && *found) {
		err = reply_existing(&reply, info, found);
	} else if (IS_ERR(ctrl)) {
		err = nof_reply_end(&reply, info, PTR_ERR(ctrl));
	} else {
		err = nof_reply_end(&reply, info, nof_put_ctrl(reply.skb, ctrl));
		nof_ctrl_put(ctrl);
	}
free_opts:
	kfree(opts);
	return err;
}

/* @begin at once, then @finish, in the background; either may be NULL */
static int with_ctrl(struct sk_buff *skb, struct genl_info *info, nof_later_fn *begin, nof_later_fn *finish)
{
	struct nof_ctrl *ctrl = genl_ctrl_find(info);
	struct nof_later *later = NULL;
	int err = 0;

	if (IS_ERR(ctrl))
		return PTR_ERR(ctrl);
	if (finish) {
		later = nof_later_new(skb, info, ctrl, finish);
		if (!later)
			err = -ENOMEM;
	}
	if (!err && begin)
		err = begin(ctrl, info->extack);
	if (later)
		err = nof_later_end(later, err);
	nof_ctrl_put(ctrl);
	return err;
}

int nof_genl_ctrl_del(struct sk_buff *skb, struct genl_info *info)
{
	return with_ctrl(skb, info, nof_ctrl_delete, nof_ctrl_wait_deleted);
}

int nof_genl_ctrl_reset(struct sk_buff *skb, struct genl_info *info)
{
	return with_ctrl(skb, info, nof_ctrl_reset, NULL);
}

int nof_genl_ctrl_rescan(struct sk_buff *skb, struct genl_info *info)
{
	return with_ctrl(skb, info, NULL, nof_ctrl_rescan);
}

/* Each field is read on its own by the core, so each is written on its own; the check sees the new values together. */
static int set_timers(struct nof_opts *opts, struct genl_info *info)
{
	struct nlattr *delay = info->attrs[NVMEOF_A_RECONNECT_DELAY];
	struct nlattr *loss = info->attrs[NVMEOF_A_CTRL_LOSS_TMO];
	struct nlattr *fail = info->attrs[NVMEOF_A_FAST_IO_FAIL_TMO];
	struct nlattr *stall = info->attrs[NVMEOF_A_STALL_TMO];
	s32 loss_ms = loss ? nla_get_s32(loss) : opts->ctrl_loss_tmo_ms;
	s32 fail_ms = fail ? nla_get_s32(fail) : opts->fast_io_fail_tmo_ms;

	if (loss_ms >= 0 && fail_ms > loss_ms) {
		nof_genl_bad(info->extack, fail ?: loss, "FAST_IO_FAIL_TMO would be longer than CTRL_LOSS_TMO");
		return -EINVAL;
	}
	if (delay)
		WRITE_ONCE(opts->reconnect_delay_ms, nla_get_u32(delay));
	if (stall)
		WRITE_ONCE(opts->stall_tmo_ms, nla_get_u32(stall));
	WRITE_ONCE(opts->ctrl_loss_tmo_ms, loss_ms);
	WRITE_ONCE(opts->fast_io_fail_tmo_ms, fail_ms);
	return 0;
}

static void set_owner(struct nof_ctrl *ctrl, const char *owner)
{
	unsigned long flags;

	spin_lock_irqsave(&ctrl->error_lock, flags);
	strscpy(ctrl->opts.owner, owner, sizeof(ctrl->opts.owner));
	spin_unlock_irqrestore(&ctrl->error_lock, flags);
}

int nof_genl_ctrl_set(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *owner_attr = info->attrs[NVMEOF_A_OWNER];
	char owner[NVMEOF_NAME_MAX + 1] = "";
	struct nof_ctrl *ctrl;
	int err = 0;

	/* an empty one: it is nobody's any more */
	if (owner_attr && *(const char *)nla_data(owner_attr))
		err = nof_opts_take_string(owner, sizeof(owner), owner_attr, info);
	if (err)
		return err;
	ctrl = genl_ctrl_find(info);
	if (IS_ERR(ctrl))
		return PTR_ERR(ctrl);
	mutex_lock(&ctrl->subsys->lock);
	err = set_timers(&ctrl->opts, info);
	mutex_unlock(&ctrl->subsys->lock);
	if (!err) {
		if (owner_attr)
			set_owner(ctrl, owner);
		/* the next attempt is made at once for those that bound it, not for one that matters when connected */
		if (info->attrs[NVMEOF_A_RECONNECT_DELAY] || info->attrs[NVMEOF_A_CTRL_LOSS_TMO] ||
		    info->attrs[NVMEOF_A_FAST_IO_FAIL_TMO])
			nof_ctrl_timers_changed(ctrl);
		nof_events->ctrl(ctrl, NVMEOF_EVENT_CHANGED, nof_ctrl_state(ctrl));
	}
	nof_ctrl_put(ctrl);
	return err;
}
