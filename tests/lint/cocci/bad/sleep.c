// SPDX-License-Identifier: LGPL-2.1-or-later
void mutex(struct nof_ctrl *ctrl)
{
	spin_lock_irq(&ctrl->state_lock);
	mutex_lock(&ctrl->queues.lock);	/* BAD */
	mutex_unlock(&ctrl->queues.lock);
	spin_unlock_irq(&ctrl->state_lock);
}

void *memory(struct nof_ctrl *ctrl)
{
	unsigned long flags;
	void *p;

	spin_lock_irqsave(&ctrl->state_lock, flags);
	p = kzalloc(16, GFP_KERNEL);	/* BAD */
	spin_unlock_irqrestore(&ctrl->state_lock, flags);
	return p;
}

struct sk_buff *message(void)
{
	struct sk_buff *skb;

	rcu_read_lock();
	skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_NOIO | __GFP_NOWARN);	/* BAD */
	rcu_read_unlock();
	return skb;
}

void last_one(struct nof_fence *f)
{
	spin_lock_irq(&f->subsys->fence_lock);
	nof_ctrl_put(f->source);	/* BAD */
	spin_unlock_irq(&f->subsys->fence_lock);
}

void reader(struct nof_cmd *cmd)
{
	rcu_read_lock();
	msleep(1);	/* BAD */
	rcu_read_unlock();
}

void good(struct nof_ctrl *ctrl)
{
	void *p;

	spin_lock_irq(&ctrl->state_lock);
	p = kmalloc(16, GFP_ATOMIC);
	spin_unlock_irq(&ctrl->state_lock);
	msleep(1);
	kfree(p);
}
