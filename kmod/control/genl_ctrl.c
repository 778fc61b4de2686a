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

/* The attribute's value in @ms; NULL without it. A u32 of these fits: the policy allows a day at most. */
static const s32 *time_of(struct genl_info *info, enum nvmeof_attr attr, s32 *ms)
{
	if (!info->attrs[attr])
		return NULL;
	*ms = nla_get_s32(info->attrs[attr]);
	return ms;
}

static int set_times(struct nof_ctrl *ctrl, struct genl_info *info)
{
	s32 delay, loss, fail, stall;
	const struct nof_times times = {
		.delay_ms	= time_of(info, NVMEOF_A_RECONNECT_DELAY, &delay),
		.loss_ms	= time_of(info, NVMEOF_A_CTRL_LOSS_TMO, &loss),
		.fail_ms	= time_of(info, NVMEOF_A_FAST_IO_FAIL_TMO, &fail),
		.stall_ms	= time_of(info, NVMEOF_A_STALL_TMO, &stall),
	};
	int err = nof_opts_set_times(ctrl, &times);

	if (err)
		nof_genl_bad(info->extack,
			     info->attrs[times.fail_ms ? NVMEOF_A_FAST_IO_FAIL_TMO : NVMEOF_A_CTRL_LOSS_TMO],
			     "FAST_IO_FAIL_TMO would be longer than CTRL_LOSS_TMO");
	return err;
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
	err = set_times(ctrl, info);
	if (!err) {
		if (owner_attr)
			set_owner(ctrl, owner);
		nof_events->ctrl(ctrl, NVMEOF_EVENT_CHANGED, nof_ctrl_state(ctrl));
	}
	nof_ctrl_put(ctrl);
	return err;
}
