// SPDX-License-Identifier: LGPL-2.1-or-later
void text(struct nof_ctrl *ctrl, const char *name)
{
	strcpy(ctrl->serial, name);	/* BAD */
	sprintf(ctrl->model, "%s", name);	/* BAD */
	strscpy(ctrl->serial, name, sizeof(ctrl->serial));
}

void stop(struct nof_queue *queue)
{
	BUG_ON(!queue->slots);	/* BAD */
	WARN_ON(!queue->slots);	/* BAD */
	WARN_ON_ONCE(!queue->slots);
}

void message(struct nof_ctrl *ctrl)
{
	dev_warn(&ctrl->dev, "the target sends nonsense\n");	/* BAD */
	dev_warn_ratelimited(&ctrl->dev, "the target sends nonsense\n");
}

int system_call(struct nof_ctrl *ctrl)
{
	wait_for_completion(&ctrl->deleted);	/* BAD */
	return wait_for_completion_killable(&ctrl->deleted);
}
