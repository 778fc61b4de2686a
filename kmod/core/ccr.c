// SPDX-License-Identifier: GPL-2.0-only
#include <linux/slab.h>
#include "core/ccr.h"
#include "core/ctrl.h"
#include "core/lifecycle.h"
#include "wire/ccr_log.h"

#define OPC_CROSS_CTRL_RESET	0x38

/* One command under way */
struct question {
	struct nof_cmd	cmd;
	struct nof_ctrl	*source;	/* stays, as its queue has the command */
	void		(*answered)(void *arg, struct nof_ctrl *source, enum nof_ccr_answer answer);
	void		*arg;
};

bool nof_ccr_can(struct nof_ctrl *source, const struct nof_instance *victim)
{
	return victim->cirn && victim->ciu && source->ident.ccrl && source->cntlid != victim->cntlid &&
	       nof_ctrl_state(source) == NVMEOF_CTRL_LIVE;
}

bool nof_ccr_notifies(const struct nof_ctrl *source)
{
	return test_bit(NOF_CTRL_AEN, &source->flags) && (source->ident.oaes & NOF_AEN_CFG_CCR);
}

static void done(struct nof_cmd *cmd)
{
	struct question *q = container_of(cmd, struct question, cmd);

	nof_admin_leave(q->source, NOF_ADMIN_DRIVER);
	q->answered(q->arg, q->source, nof_ccr_answer(cmd->status, le32_to_cpu(cmd->result.u32)));
	kfree(q);
}

int nof_ccr_send(struct nof_ctrl *source, const struct nof_instance *victim,
		 void (*answered)(void *arg, struct nof_ctrl *source, enum nof_ccr_answer answer), void *arg)
{
	struct question *q = kzalloc(sizeof(*q), GFP_NOWAIT | __GFP_NOWARN);
	int ret;

	if (!q)
		return -ENOMEM;
	q->source = source;
	q->answered = answered;
	q->arg = arg;
	q->cmd.done = done;
	q->cmd.sqe.common.opcode = OPC_CROSS_CTRL_RESET;
	q->cmd.sqe.common.cdw10 = cpu_to_le32(victim->cntlid | (u32)victim->ciu << 16);
	q->cmd.sqe.common.cdw12 = cpu_to_le32(lower_32_bits(victim->cirn));
	q->cmd.sqe.common.cdw13 = cpu_to_le32(upper_32_bits(victim->cirn));
	ret = nof_admin_send(source, &q->cmd);
	if (ret)
		kfree(q);
	return ret;
}

int nof_ccr_read(struct nof_ctrl *source, nof_ccr_over_fn *over, void *arg)
{
	void *buf = kzalloc(NOF_LOG_CCR_BYTES, GFP_NOIO | __GFP_NOWARN);
	const char *why;
	int ret;

	if (!buf)
		return -ENOMEM;
	ret = nof_get_log(source, NOF_LOG_CCR, NOF_LOG_CCR_REMOVE, 0, buf, NOF_LOG_CCR_BYTES);
	if (!ret) {
		why = nof_ccr_parse(buf, NOF_LOG_CCR_BYTES, over, arg);
		if (why) {
			nof_ctrl_note(source, -EPROTO, 0, "%s", why);
			ret = -EPROTO;
		}
	}
	kfree(buf);
	return ret;
}
