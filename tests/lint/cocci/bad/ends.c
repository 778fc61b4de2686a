// SPDX-License-Identifier: LGPL-2.1-or-later
void ended(struct request *rq)
{
	blk_mq_end_request(rq, BLK_STS_OK); /* BAD */
}

void failed(struct bio *bio)
{
	if (bio)
		bio_endio(bio); /* BAD */
}

/* The one that may */
void nof_request_end(struct request *rq)
{
	blk_mq_end_request(rq, BLK_STS_OK);
}

void under_mutex(struct nof_ctrl *ctrl, struct nof_completed *done)
{
	mutex_lock(&ctrl->queues.lock);
	nof_completed_end(done); /* BAD */
	mutex_unlock(&ctrl->queues.lock);
}

void under_spinlock(struct nof_rdma_queue *q, struct nof_completed *done)
{
	spin_lock(&q->cq_lock);
	if (q->iop)
		nof_completed_end(done); /* BAD */
	spin_unlock(&q->cq_lock);
}

void in_section(struct nof_subsys *s, struct list_head *late)
{
	int idx = srcu_read_lock(&s->srcu);

	nof_park_fail(late);
	srcu_read_unlock(&s->srcu, idx);
}

void in_later_section(struct nof_subsys *s, struct list_head *late)
{
	int idx;

	idx = srcu_read_lock(&s->srcu);
	nof_park_fail(late); /* BAD */
	srcu_read_unlock(&s->srcu, idx);
}

void detached(struct nof_ctrl *ctrl)
{
	u32 i;

	mutex_lock(&ctrl->queues.lock);
	for (i = 0; i < ctrl->nr_io; i++)
		nof_queue_detach(ctrl->io[i], may); /* BAD */
	mutex_unlock(&ctrl->queues.lock);
}

void after_lock(struct nof_ctrl *ctrl, struct nof_completed *done)
{
	mutex_lock(&ctrl->queues.lock);
	mutex_unlock(&ctrl->queues.lock);
	nof_completed_end(done);
}

void kicked(struct request *rq, struct request_queue *q)
{
	blk_mq_requeue_request(rq, false);
	blk_mq_kick_requeue_list(q); /* BAD */
}

void again(struct nof_request *req, struct request *rq, struct nof_head *head)
{
	nof_request_put_back(req, rq);
	if (head->set_seq)
		nof_head_kick_later(head, 1); /* BAD */
}

void kept(struct request *rq)
{
	struct request_queue *q = nof_request_queue_get(rq);

	blk_mq_requeue_request(rq, false);
	blk_mq_kick_requeue_list(q);
	nof_request_queue_put(q);
}
