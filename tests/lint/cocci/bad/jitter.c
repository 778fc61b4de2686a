// SPDX-License-Identifier: LGPL-2.1-or-later
static unsigned long period(const struct nof_ctrl *ctrl)
{
	return msecs_to_jiffies(ctrl->opts.kato_ms - get_random_u32_below(100));
}

void bare(struct nof_ctrl *ctrl)
{
	queue_delayed_work(nof_wq, &ctrl->ka.work, msecs_to_jiffies(ctrl->opts.kato_ms / 2));	/* BAD */
	queue_delayed_work(nof_wq, &ctrl->ka.work, period(ctrl));
}

void reconnect(struct nof_ctrl *ctrl)
{
	u32 delay = ctrl->opts.reconnect_delay_ms;

	mod_delayed_work(nof_wq, &ctrl->recovery.reconnect_work, msecs_to_jiffies(delay));	/* BAD */
	delay = nof_backoff_ms(1, delay, get_random_u32());
	mod_delayed_work(nof_wq, &ctrl->recovery.reconnect_work, msecs_to_jiffies(delay));
	mod_delayed_work(nof_wq, &ctrl->recovery.reconnect_work, 0);
}

void scan(struct nof_ctrl *ctrl, u32 step)
{
	queue_delayed_work(nof_wq, &ctrl->scan.work, get_random_u32_below(HZ));
	queue_delayed_work(nof_wq, &ctrl->scan.work, HZ);	/* BAD */
	ctrl->recovery.attempts = nof_backoff_ms(step, 1000, step);	/* BAD */
}

void declared(struct nof_ctrl *ctrl)
{
	u32 delay = nof_backoff_ms(1, 1000, get_random_u32());

	if (ctrl->recovery.attempts)
		queue_delayed_work(nof_wq, &ctrl->scan.work, msecs_to_jiffies(delay));
}
