// SPDX-License-Identifier: LGPL-2.1-or-later
int freed(struct nof_cmd *cmd)
{
	kfree(cmd);
	return cmd->status;	/* BAD */
}

void put(struct nof_ctrl *ctrl)
{
	struct nof_subsys *s = ctrl->subsys;

	nof_ctrl_put(ctrl);
	if (ctrl->nr_paths)	/* BAD */
		s->users++;
}

void good(struct nof_ctrl *ctrl)
{
	struct nof_subsys *s = ctrl->subsys;

	nof_ctrl_put(ctrl);
	s->users++;
}

void again(struct nof_ctrl *ctrl)
{
	while (ctrl) {
		ctrl->nr_paths++;
		nof_ctrl_put(ctrl);
		ctrl = any_ctrl(NULL);
	}
}

void completed(struct nof_cmd *cmd, const union nvme_result *result)
{
	nof_cmd_complete(cmd, 0, result, NULL);
	cmd->len = 0;	/* BAD */
}

void ended(struct request *rq)
{
	struct nof_request *req = blk_mq_rq_to_pdu(rq);

	blk_mq_end_request(rq, BLK_STS_OK);
	trace_nof_ended(rq);	/* BAD */
}

void requeued(struct request *rq)
{
	blk_mq_requeue_request(rq, false);
	rq->rq_flags |= RQF_QUIET;	/* BAD */
}

void twice(struct nof_cmd *cmd)
{
	kfree(cmd);
	if (!cmd)
		return;
	kfree(cmd);	/* BAD */
}

void each(struct list_head *list)
{
	struct nof_failover *f, *next;

	list_for_each_entry_safe(f, next, list, entry) {
		if (f->orphan)
			kfree(f);
	}
	list_for_each_entry(f, list, entry) {
		list_del(&f->entry);
		kfree(f);
		f->pending = 0;	/* BAD */
	}
}
