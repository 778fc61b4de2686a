// SPDX-License-Identifier: LGPL-2.1-or-later
void readers(struct nof_subsys *s)
{
	mutex_lock(&s->lock);
	synchronize_srcu(&s->srcu);	/* BAD */
	mutex_unlock(&s->lock);
}

void network(struct nof_ctrl *ctrl, struct nof_cmd *cmd)
{
	mutex_lock(&ctrl->subsys->lock);
	if (!ctrl->nr_paths)
		nof_admin_exec(ctrl, cmd, 0);	/* BAD */
	mutex_unlock(&ctrl->subsys->lock);
}

void order(struct nof_ctrl *ctrl)
{
	mutex_lock(&nof_subsystems_lock);
	mutex_lock(&ctrl->queues.stop_lock);	/* BAD */
	mutex_unlock(&ctrl->queues.stop_lock);
	mutex_unlock(&nof_subsystems_lock);
}

void work(struct nof_head *head)
{
	struct nof_subsys *s = head->subsys;

	mutex_lock(&s->lock);
	if (head->nr_paths) {
		mutex_unlock(&s->lock);
		cancel_delayed_work_sync(&head->removal.work);
		return;
	}
	mutex_unlock(&s->lock);
}

/* Another structure's lock */
void queue(struct nof_queue *queue)
{
	mutex_lock(&queue->lock);
	cancel_work_sync(&queue->start_work);
	mutex_unlock(&queue->lock);
}
