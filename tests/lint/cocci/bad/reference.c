// SPDX-License-Identifier: LGPL-2.1-or-later
int leak(const char *name)
{
	struct nof_ctrl *ctrl = nof_ctrl_find(name);	/* BAD */
	int err;

	if (!ctrl)
		return -ENODEV;
	err = nof_ctrl_rescan(ctrl, NULL);
	if (err)
		return err;
	nof_ctrl_put(ctrl);
	return 0;
}

int good(const char *name)
{
	struct nof_ctrl *ctrl = nof_ctrl_find(name);
	int err;

	if (!ctrl)
		return -ENODEV;
	err = nof_ctrl_rescan(ctrl, NULL);
	if (err)
		goto put;
	nof_ctrl_event(ctrl);
put:
	nof_ctrl_put(ctrl);
	return err;
}

struct nof_ctrl *handed_on(const char *name)
{
	struct nof_ctrl *ctrl = nof_ctrl_find(name);

	if (!ctrl)
		return ERR_PTR(-ENODEV);
	return ctrl;
}

int by_error_pointer(struct genl_info *info)
{
	struct nof_subsys *s;

	s = find(info);	/* BAD */
	if (IS_ERR(s))
		return PTR_ERR(s);
	if (!s->users)
		return -ENODEV;
	nof_subsys_put(s);
	return 0;
}

void no_value(const char *name)
{
	struct nof_head *head = nof_head_find(name);	/* BAD */

	if (!head)
		return;
	if (!head->nr_paths)
		nof_head_put(head);
}

int path(const char *name)
{
	struct nof_path *path = nof_path_find(name);	/* BAD */

	if (!path)
		return -ENODEV;
	return path->nsid;
}

int module(const char *name)
{
	struct nof_transport *t = nof_transport_get(name);	/* BAD */

	if (!t)
		return -EPROTONOSUPPORT;
	if (t->poll)
		return -EINVAL;
	nof_transport_put(t);
	return 0;
}

int selector(struct nof_subsys *s, const char *name)
{
	struct nof_selector *new = nof_selector_get(name);

	if (!new)
		return -ENOENT;
	s->selector = new;
	return 0;
}

int selector_lost(const char *name)
{
	struct nof_selector *new = nof_selector_get(name);	/* BAD */

	if (!new)
		return -ENOENT;
	return 0;
}

bool hold(struct nof_head *head)
{
	struct nof_subsys *s = nof_subsys_get(head->subsys);	/* BAD */

	if (!s->users)
		return false;
	nof_subsys_put(s);
	return true;
}

int statement(struct nof_ctrl *ctrl)
{
	nof_ctrl_get(ctrl);	/* BAD */
	if (!ctrl->nr_paths)
		return -ENOENT;
	nof_ctrl_put(ctrl);
	return 0;
}

int value(struct nof_path *path)
{
	struct nof_ctrl *ctrl = nof_ctrl_get(path->ctrl);	/* BAD */

	if (!ctrl->nr_paths)
		return -ENOENT;
	nof_ctrl_put(ctrl);
	return 0;
}

int subsystem(struct nof_subsys *s)
{
	nof_subsys_get(s);	/* BAD */
	if (!s->users)
		return -ENOENT;
	nof_subsys_put(s);
	return 0;
}

void stored(struct nof_path *path, struct nof_head *head)
{
	kref_get(&head->ref);
	path->head = head;
}

int head_and_disk(struct nof_head *head)
{
	kref_get(&head->ref);	/* BAD */
	get_device(disk_to_dev(head->disk));	/* BAD */
	if (!head->nr_paths)
		return -ENODEV;
	put_device(disk_to_dev(head->disk));
	nof_head_put(head);
	return 0;
}

int pinned(struct nof_path *path)
{
	struct nof_head *head = nof_head_pin(path->head);	/* BAD */

	if (!head->nr_paths)
		return -ENODEV;
	nof_head_unpin(head);
	return 0;
}

int tried(struct nof_head *head)
{
	if (!kref_get_unless_zero(&head->ref))	/* BAD */
		return -ENODEV;
	if (!head->nr_paths)
		return -EINVAL;
	nof_head_put(head);
	return 0;
}

void each_head(void)
{
	struct nof_head *head;

	while ((head = find_lingering()))	/* BAD */
		flush_delayed_work(&head->removal.work);
}

void each(const struct nof_transport *t)
{
	struct nof_ctrl *ctrl;

	while ((ctrl = any_ctrl(t)))	/* BAD */
		wait_for_completion(&ctrl->deleted);
}
