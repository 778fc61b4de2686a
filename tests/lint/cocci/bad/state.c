// SPDX-License-Identifier: LGPL-2.1-or-later
void write(struct nof_ctrl *ctrl)
{
	ctrl->state = NVMEOF_CTRL_LIVE;	/* BAD */
}

bool read(const struct nof_ctrl *c)
{
	struct nof_ctrl *ctrl = to_ctrl(c);

	return ctrl->state == NVMEOF_CTRL_LIVE;	/* BAD */
}

void good(struct nof_ctrl *ctrl)
{
	unsigned long flags;

	spin_lock_irqsave(&ctrl->state_lock, flags);
	if (ctrl->state == NVMEOF_CTRL_LIVE)
		WRITE_ONCE(ctrl->state, NVMEOF_CTRL_RECOVERING);
	spin_unlock_irqrestore(&ctrl->state_lock, flags);
}

void after(struct nof_ctrl *ctrl)
{
	unsigned long flags;

	spin_lock_irqsave(&ctrl->state_lock, flags);
	spin_unlock_irqrestore(&ctrl->state_lock, flags);
	WRITE_ONCE(ctrl->state, NVMEOF_CTRL_DEAD);	/* BAD */
}

void birth(struct nof_ctrl *ctrl)
{
	ctrl->state = NVMEOF_CTRL_NEW;
}

void flags(struct nof_queue *queue)
{
	queue->flags |= 1;	/* BAD */
	set_bit(NOF_Q_LIVE, &queue->flags);
}

void policy(struct nof_subsys *s, u32 us)
{
	s->policy.spill_us = us;	/* BAD */
	WRITE_ONCE(s->policy.spill_us, us);
}

bool late(unsigned long then)
{
	if (jiffies > then)	/* BAD */
		return true;
	return time_after(jiffies, then);
}
