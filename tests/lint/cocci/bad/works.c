// SPDX-License-Identifier: LGPL-2.1-or-later
static void look(struct work_struct *work)
{
	struct nof_ctrl *ctrl = container_of(work, struct nof_ctrl, look_work);

	ctrl->recovery.attempts++;
}

static void again(struct work_struct *work)
{
	struct nof_ctrl *ctrl = container_of(work, struct nof_ctrl, kick_work);

	cancel_work_sync(&ctrl->kick_work);	/* BAD */
}

static void arm(struct work_struct *work)
{
	struct nof_ctrl *ctrl = container_of(work, struct nof_ctrl, aen.work);

	cancel_work_sync(&ctrl->aen.work);	/* BAD */
}

static void go(struct work_struct *work)
{
	struct nof_ctrl *ctrl = container_of(work, struct nof_ctrl, go_work);

	nof_ctrl_note(ctrl, 0, 0, "gone");
	nof_ctrl_put(ctrl);
}

static void good(struct work_struct *work)
{
}

void init(struct nof_ctrl *ctrl)
{
	INIT_WORK(&ctrl->look_work, look);	/* BAD */
	INIT_WORK(&ctrl->kick_work, again);
	INIT_WORK(&ctrl->go_work, go);
	INIT_WORK(&ctrl->aen.work, arm);
	INIT_WORK(&ctrl->inner.inner_work, good);	/* BAD */
	INIT_DELAYED_WORK(&ctrl->good_work, good);
}

void stop(struct nof_ctrl *ctrl)
{
	cancel_delayed_work_sync(&ctrl->good_work);
}
