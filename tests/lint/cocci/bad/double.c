// SPDX-License-Identifier: LGPL-2.1-or-later
void twice(struct nof_subsys *s)
{
	mutex_lock(&s->lock);
	if (s->users)
		mutex_lock(&s->lock);	/* BAD */
	mutex_unlock(&s->lock);
}

void again(struct nof_subsys *s)
{
	mutex_lock(&s->lock);
	if (s->users)
		mutex_unlock(&s->lock);
	mutex_unlock(&s->lock);	/* BAD */
}

void loop(struct nof_subsys *s)
{
	while (s->users) {
		mutex_lock(&s->lock);
		mutex_unlock(&s->lock);
	}
}

void spin_again(struct nof_subsys *s)
{
	spin_lock_irq(&s->fence_lock);
	if (s->users)
		spin_unlock_irq(&s->fence_lock);
	spin_unlock_irq(&s->fence_lock);	/* BAD */
}

void nested(struct nof_ctrl *ctrl)
{
	unsigned long flags;

	spin_lock_irqsave(&ctrl->state_lock, flags);
	spin_lock(&ctrl->error.lock);	/* BAD */
	ctrl->error.err = 0;
	spin_unlock(&ctrl->error.lock);
	spin_unlock_irqrestore(&ctrl->state_lock, flags);
}

void one_after_another(struct nof_ctrl *ctrl)
{
	unsigned long flags;

	spin_lock_irqsave(&ctrl->state_lock, flags);
	spin_unlock_irqrestore(&ctrl->state_lock, flags);
	spin_lock_irq(&ctrl->error.lock);
	spin_unlock_irq(&ctrl->error.lock);
}

void saved(struct nof_ctrl *ctrl)
{
	unsigned long flags;

	spin_lock_irqsave(&ctrl->state_lock, flags);
	spin_unlock_irq(&ctrl->state_lock);	/* BAD */
}

void plain(struct nof_ctrl *ctrl, unsigned long flags)
{
	spin_lock_irq(&ctrl->state_lock);
	spin_unlock_irqrestore(&ctrl->state_lock, flags);	/* BAD */
}

void index(struct nof_subsys *s, int other)
{
	int idx;

	idx = srcu_read_lock(&s->srcu);
	srcu_read_unlock(&s->srcu, other);	/* BAD */
}
