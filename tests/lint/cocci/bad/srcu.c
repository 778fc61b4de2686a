// SPDX-License-Identifier: LGPL-2.1-or-later
u32 outside(struct nof_head *head)
{
	struct nof_path_set *set;
	int idx = srcu_read_lock(&head->subsys->srcu);

	set = srcu_dereference(head->set, &head->subsys->srcu);
	srcu_read_unlock(&head->subsys->srcu, idx);
	return set ? set->nr_usable : 0;	/* BAD */
}

u32 good(struct nof_head *head)
{
	struct nof_path_set *set;
	int idx = srcu_read_lock(&head->subsys->srcu);
	u32 nr;

	set = srcu_dereference(head->set, &head->subsys->srcu);
	nr = set ? set->nr_usable : 0;
	srcu_read_unlock(&head->subsys->srcu, idx);
	return nr;
}

int admin(struct nof_ctrl *ctrl, struct nof_cmd *cmd)
{
	struct nof_queue *queue;
	int idx;

	idx = srcu_read_lock(&ctrl->subsys->srcu);
	queue = srcu_dereference(ctrl->queues.admin, &ctrl->subsys->srcu);
	srcu_read_unlock(&ctrl->subsys->srcu, idx);
	return nof_queue_exec(queue, cmd, 0, 0);	/* BAD */
}

int admin_counted(struct nof_ctrl *ctrl, struct nof_cmd *cmd)
{
	struct nof_queue *queue;
	int idx, ret;

	atomic_inc(&ctrl->slots.users);
	idx = srcu_read_lock(&ctrl->subsys->srcu);
	queue = srcu_dereference(ctrl->queues.admin, &ctrl->subsys->srcu);
	srcu_read_unlock(&ctrl->subsys->srcu, idx);
	ret = nof_queue_exec(queue, cmd, 0, 0);
	atomic_dec(&ctrl->slots.users);
	return ret;
}

u32 before(struct nof_head *head)
{
	struct nof_path_set *set = srcu_dereference(head->set, &head->subsys->srcu);	/* BAD */
	int idx;
	u32 nr;

	idx = srcu_read_lock(&head->subsys->srcu);
	nr = set->nr;
	srcu_read_unlock(&head->subsys->srcu, idx);
	return nr;
}

void plain(struct nof_head *head, struct nof_path_set *set)
{
	head->set = set;	/* BAD */
}
