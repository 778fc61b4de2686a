// SPDX-License-Identifier: LGPL-2.1-or-later
/* For tests/lint/locks.py: an order turned round, and a lock that is never taken under subsys->lock, by a call, nor is
 * memory, nor an event told */
void turned_round(struct nof_ctrl *ctrl)
{
	mutex_lock(&ctrl->queues.lock);
	mutex_lock(&ctrl->subsys->lock);
	mutex_unlock(&ctrl->subsys->lock);
	mutex_unlock(&ctrl->queues.lock);
}

static void inner(struct nof_queue *queue)
{
	mutex_lock(&queue->lock);
	mutex_unlock(&queue->lock);
}

static void between(struct nof_queue *queue)
{
	inner(queue);
}

void by_a_call(struct nof_subsys *s, struct nof_queue *queue)
{
	mutex_lock(&s->lock);
	between(queue);
	mutex_unlock(&s->lock);
}

void with_memory(struct nof_subsys *s)
{
	mutex_lock(&s->lock);
	s->set = kzalloc(sizeof(*s->set), GFP_KERNEL);
	mutex_unlock(&s->lock);
}

static void tell(struct nof_path *path)
{
	nof_events->path(path, NVMEOF_EVENT_STATE);
}

void with_an_event(struct nof_subsys *s)
{
	mutex_lock(&s->lock);
	tell(s->path);
	mutex_unlock(&s->lock);
}

void in_the_loop(struct nof_subsys *s)
{
	nof_for_each_subsys(s) {
		list_for_each_entry(ctrl, &s->ctrls, entry)
			shut(ctrl);
	}
}

static void shut(struct nof_ctrl *ctrl)
{
	mutex_lock(&ctrl->scan.lock);
	mutex_unlock(&ctrl->scan.lock);
}

void good(struct nof_ctrl *ctrl)
{
	mutex_lock(&nof_subsystems_lock);
	mutex_lock(&ctrl->subsys->lock);
	mutex_unlock(&ctrl->subsys->lock);
	mutex_unlock(&nof_subsystems_lock);
}
