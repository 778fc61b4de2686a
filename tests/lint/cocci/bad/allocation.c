// SPDX-License-Identifier: LGPL-2.1-or-later
struct nof_cmd *unchecked(void)
{
	struct nof_cmd *cmd = kzalloc(sizeof(*cmd), GFP_NOIO);

	cmd->len = 0;	/* BAD */
	return cmd;
}

struct nof_cmd *good(void)
{
	struct nof_cmd *cmd = kzalloc(sizeof(*cmd), GFP_NOIO);

	if (!cmd)
		return NULL;
	cmd->len = 0;
	return cmd;
}

void never_fails(struct nof_head *head)
{
	struct nof_path_set *set = kzalloc(16, GFP_NOIO | __GFP_NOFAIL);

	set->nr = 0;
}

void *passed(const void *from, size_t n)
{
	void *to = kmalloc(n, GFP_NOIO);

	memcpy(to, from, n);	/* BAD */
	return to;
}

int member(struct nof_ctrl *ctrl)
{
	ctrl->ka.cmd = kzalloc(sizeof(*ctrl->ka.cmd), GFP_KERNEL);
	ctrl->ka.cmd->ctx = ctrl;	/* BAD */
	return 0;
}

void *product(u32 nr)
{
	return kmalloc(nr * sizeof(u64), GFP_NOIO);	/* BAD */
}

void *array(u32 nr)
{
	return kcalloc(nr, sizeof(u64), GFP_NOIO);
}

int never_null(const struct nof_opts *opts)
{
	struct nof_ctrl *ctrl = nof_ctrl_create(opts, NULL, NULL);

	if (!ctrl)	/* BAD */
		return -ENOMEM;
	return 0;
}

int never_error(const char *name)
{
	struct nof_ctrl *ctrl = nof_ctrl_find(name);

	if (IS_ERR(ctrl))	/* BAD */
		return -ENODEV;
	return 0;
}

int other(struct nof_ctrl *ctrl, struct nof_subsys *s)
{
	if (IS_ERR(s)) {
		ctrl->nr_paths = 0;
		return PTR_ERR(ctrl);	/* BAD */
	}
	return 0;
}
