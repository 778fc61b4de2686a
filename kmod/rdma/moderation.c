// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interrupt moderation: a queue that is busy has the device wait for several completions before it interrupts, one that
 * is not has each told at once. How busy it is, and which step of the ladder serves it best, is DIM's to find out, as
 * for the queues of the verbs core.
 */
#include "rdma/rdma.h"

/* Steps of the ladder: no more completions than are reaped at a time, and no longer than what a round trip takes */
static const struct { u8 usec, completions; } ladder[RDMA_DIM_PARAMS_NUM_PROFILES] = {
	{ 1, 1 }, { 1, 2 }, { 2, 4 }, { 2, 8 }, { 4, 8 }, { 8, 16 }, { 16, 16 }, { 16, 32 }, { 32, 32 },
};

static void moderation_work(struct work_struct *work)
{
	struct dim *dim = container_of(work, struct dim, work);
	struct nof_rdma_queue *q = container_of(dim, struct nof_rdma_queue, dim);
	u32 step = min_t(u32, dim->profile_ix, ARRAY_SIZE(ladder) - 1);

	dim->state = DIM_START_MEASURE;
	rdma_set_cq_moderation(q->cq, ladder[step].completions, ladder[step].usec);
}

/* Where the device can, and has not been told not to ("rdma dev set ... adaptive-moderation off") */
void nof_rdma_moderation_begin(struct nof_rdma_queue *q)
{
	struct ib_device *dev = q->rdev->dev;

	if (!q->q.qid || q->q.type == NOF_QUEUE_POLL || !dev->ops.modify_cq || !dev->use_cq_dim)
		return;
	q->dim = (struct dim){
		.state = DIM_START_MEASURE,
		.tune_state = DIM_GOING_RIGHT,
		.profile_ix = RDMA_DIM_START_PROFILE,
	};
	INIT_WORK(&q->dim.work, moderation_work);
	q->moderated = true;
}

/* Nobody completes any more */
void nof_rdma_moderation_end(struct nof_rdma_queue *q)
{
	if (q->moderated)
		cancel_work_sync(&q->dim.work);
	q->moderated = false;
}
