// SPDX-License-Identifier: LGPL-2.1-or-later
void removed(struct list_head *list)
{
	struct nof_fence *f;

	list_for_each_entry(f, list, entry) {
		if (!f->nr)
			list_del_init(&f->entry);	/* BAD */
	}
}

void first_only(struct list_head *list)
{
	struct nof_fence *f;

	list_for_each_entry(f, list, entry) {
		if (!f->nr) {
			list_del_init(&f->entry);
			break;
		}
	}
}

u32 behind(struct nof_subsys *s)
{
	struct nof_ctrl *ctrl;

	list_for_each_entry(ctrl, &s->ctrls, entry)
		if (ctrl->nr_paths)
			break;
	return ctrl->id;	/* BAD */
}

struct nof_ctrl *good(struct nof_subsys *s)
{
	struct nof_ctrl *ctrl, *found = NULL;

	list_for_each_entry(ctrl, &s->ctrls, entry)
		if (ctrl->nr_paths)
			found = ctrl;
	list_for_each_entry(ctrl, &s->ctrls, entry)
		ctrl->nr_paths = 0;
	return found;
}

u32 reader(struct nof_subsys *s)
{
	struct nof_head *head;
	u32 n = 0;

	rcu_read_lock();
	list_for_each_entry(head, &s->heads, entry)	/* BAD */
		n++;
	rcu_read_unlock();
	return n;
}

u32 sleeping_reader(struct nof_subsys *s)
{
	int idx = srcu_read_lock(&s->srcu);
	struct nof_head *head;
	u32 n = 0;

	list_for_each_entry(head, &s->heads, entry)	/* BAD */
		n++;
	srcu_read_unlock(&s->srcu, idx);
	return n;
}

void left(struct nof_subsys *s, struct nof_ctrl *ctrl)
{
	struct nof_head *head;
	struct nof_path *path;

	nof_for_each_path(s, head, path) {	/* BAD */
		if (path->ctrl == ctrl)
			break;
	}
}
