// SPDX-License-Identifier: GPL-2.0-only
/* The data of a command: DMA mapping, in-capsule data, and memory registration with a key for this command only. */
#include <linux/blk-mq.h>
#include "core/direct.h"
#include "rdma/rdma.h"

static enum dma_data_direction cmd_dma_direction(const struct nof_cmd *cmd)
{
	return cmd->write ? DMA_TO_DEVICE : DMA_FROM_DEVICE;
}

static void *data_buffer(const struct nof_cmd *cmd, const struct nof_rdma_slot *slot)
{
	return slot->bounce ?: cmd->buf;
}

/* A GPU provider may map the data to more pieces than the request has segments */
static int data_pieces(struct nof_cmd *cmd, const struct nof_rdma_slot *slot)
{
	if (slot->gpu)
		return cmd->len / NOF_RDMA_UNIT + 2;
	return data_buffer(cmd, slot) ? 1 : blk_rq_nr_phys_segments(nof_cmd_rq(cmd));
}

static int data_gather(struct nof_cmd *cmd, struct nof_rdma_slot *slot)
{
	void *buf = data_buffer(cmd, slot);
	struct request *rq;

	if (buf) {
		sg_set_buf(slot->table.sgl, buf, cmd->len);
		return 1;
	}
	rq = nof_cmd_rq(cmd);
	return slot->gpu ? slot->gpu->gather(rq, slot->table.sgl) : blk_rq_map_sg(rq, slot->table.sgl);
}

/* -EOPNOTSUPP: peer-to-peer memory that the device does not reach. -ENOMEM: lack of resources. */
static int map_pages(struct ib_device *dev, struct scatterlist *sgl, int n, enum dma_data_direction dir)
{
	struct sg_table pieces = { .sgl = sgl, .nents = n, .orig_nents = n };
	int err = ib_dma_map_sgtable_attrs(dev, &pieces, dir, 0);

	if (err)
		return err == -EREMOTEIO || err == -EINVAL ? -EOPNOTSUPP : -ENOMEM;
	return pieces.nents;
}

static int data_dma_map(struct nof_rdma_queue *q, struct nof_cmd *cmd, struct nof_rdma_slot *slot, int n)
{
	struct ib_device *dev = q->rdev->dev;

	if (slot->gpu)
		return slot->gpu->map(dev->dma_device, slot->table.sgl, n, cmd_dma_direction(cmd));
	return map_pages(dev, slot->table.sgl, n, cmd_dma_direction(cmd));
}

static void data_unmap(struct nof_rdma_queue *q, struct nof_cmd *cmd, struct nof_rdma_slot *slot)
{
	struct ib_device *dev = q->rdev->dev;

	if (unlikely(slot->gpu))
		slot->gpu->unmap(dev->dma_device, slot->table.sgl, slot->nr_mapped, cmd_dma_direction(cmd));
	else
		ib_dma_unmap_sg(dev, slot->table.sgl, slot->nr_mapped, cmd_dma_direction(cmd));
	sg_free_table_chained(&slot->table, NOF_RDMA_SGS);
}

/*
 * Maps the data into slot->table, which takes more entries than slot->first has from the pools for chained
 * scatterlists. Returns the number of mapped pieces, or a negative errno.
 */
static int data_map(struct nof_rdma_queue *q, struct nof_cmd *cmd, struct nof_rdma_slot *slot)
{
	int n, mapped;

	slot->table.sgl = slot->first;
	if (sg_alloc_table_chained(&slot->table, data_pieces(cmd, slot), slot->first, NOF_RDMA_SGS))
		return -ENOMEM;
	n = data_gather(cmd, slot);
	mapped = n > 0 ? data_dma_map(q, cmd, slot, n) : n;
	if (mapped <= 0) {
		sg_free_table_chained(&slot->table, NOF_RDMA_SGS);
		return mapped ?: -EOPNOTSUPP;
	}
	slot->nr_mapped = n;
	return mapped;
}

static bool fits_capsule(const struct nof_rdma_queue *q, const struct nof_cmd *cmd, int pieces)
{
	return cmd->write && cmd->len <= q->inline_room && pieces <= q->inline_sges;
}

/* NVMe Base 2.0, 4.1.2: offset 0 is the start of the data in the capsule */
static void data_in_capsule(struct nof_rdma_queue *q, struct nof_cmd *cmd, struct nof_rdma_slot *slot, int pieces)
{
	struct nvme_sgl_desc *sgl = &cmd->sqe.common.dptr.sgl;
	struct scatterlist *sg;
	int i;

	for_each_sg(slot->table.sgl, sg, pieces, i) {
		slot->sge[1 + i].addr = sg_dma_address(sg);
		slot->sge[1 + i].length = sg_dma_len(sg);
		slot->sge[1 + i].lkey = q->pd->local_dma_lkey;
	}
	slot->send.num_sge = 1 + pieces;
	slot->key = 0;
	slot->mapped = NOF_RDMA_CAPSULE;
	sgl->addr = 0;
	sgl->length = cpu_to_le32(cmd->len);
	sgl->type = NVME_SGL_FMT_DATA_DESC << 4 | NVME_SGL_FMT_OFFSET;
}

static struct ib_mr *take_large(struct nof_rdma_queue *q)
{
	struct ib_mr *mr;
	unsigned long flags;

	spin_lock_irqsave(&q->large_lock, flags);
	mr = list_first_entry_or_null(&q->large, struct ib_mr, qp_entry);
	if (mr)
		list_del(&mr->qp_entry);
	spin_unlock_irqrestore(&q->large_lock, flags);
	return mr;
}

static void give_large(struct nof_rdma_queue *q, struct ib_mr *mr)
{
	unsigned long flags;

	spin_lock_irqsave(&q->large_lock, flags);
	list_add(&mr->qp_entry, &q->large);
	spin_unlock_irqrestore(&q->large_lock, flags);
	nof_queue_resource_freed(&q->q);
}

static void mr_put(struct nof_rdma_queue *q, struct nof_rdma_slot *slot)
{
	if (slot->mr != slot->small)
		give_large(q, slot->mr);
	slot->mr = NULL;
}

static bool mr_maps(struct nof_rdma_slot *slot, struct ib_mr *mr, int pieces)
{
	slot->mr = mr;
	return ib_map_mr_sg(mr, slot->table.sgl, pieces, NULL, NOF_RDMA_UNIT) == pieces;
}

static int mr_map(struct nof_rdma_queue *q, struct nof_cmd *cmd, struct nof_rdma_slot *slot, int pieces)
{
	bool large = cmd->len > (NOF_RDMA_SMALL - 1) * NOF_RDMA_UNIT || pieces > NOF_RDMA_SMALL;
	struct ib_mr *mr = large ? take_large(q) : slot->small;

	if (!mr)
		return q->has_large ? -EAGAIN : -EOPNOTSUPP;
	if (mr_maps(slot, mr, pieces))
		return 0;
	/* the region has too few pages, or the pieces have gaps between them */
	mr_put(q, slot);
	return -EOPNOTSUPP;
}

static void put_le(u8 *to, u32 value, int bytes)
{
	for (; bytes--; value >>= 8)
		*to++ = value;
}

/* Grants the target no more than it needs: a key for this command and direction, with a new value each time */
static void data_keyed(struct nof_cmd *cmd, struct nof_rdma_slot *slot)
{
	struct nvme_keyed_sgl_desc *sgl = &cmd->sqe.common.dptr.ksgl;
	struct ib_mr *mr = slot->mr;

	ib_update_fast_reg_key(mr, ib_inc_rkey(mr->rkey));
	slot->reg.mr = mr;
	slot->reg.key = mr->rkey;
	slot->reg.access = cmd->write ? IB_ACCESS_REMOTE_READ : IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE;
	slot->send.num_sge = 1;
	slot->key = mr->rkey;
	slot->mapped = NOF_RDMA_KEYED;
	sgl->addr = cpu_to_le64(mr->iova);
	put_le(sgl->length, cmd->len, sizeof(sgl->length));
	put_le(sgl->key, mr->rkey, sizeof(sgl->key));
	sgl->type = NVME_KEY_SGL_FMT_DATA_DESC << 4 | NVME_SGL_FMT_INVALIDATE;
}

static void data_none(struct nof_cmd *cmd, struct nof_rdma_slot *slot)
{
	struct nvme_keyed_sgl_desc *sgl = &cmd->sqe.common.dptr.ksgl;

	memset(sgl, 0, sizeof(*sgl));
	sgl->type = NVME_KEY_SGL_FMT_DATA_DESC << 4;
	slot->send.num_sge = 1;
	slot->key = 0;
	slot->mapped = NOF_RDMA_NOTHING;
}

static int data_register(struct nof_rdma_queue *q, struct nof_cmd *cmd, struct nof_rdma_slot *slot)
{
	int pieces = data_map(q, cmd, slot), err;

	if (pieces < 0)
		return pieces;
	if (fits_capsule(q, cmd, pieces)) {
		data_in_capsule(q, cmd, slot, pieces);
		return 0;
	}
	err = mr_map(q, cmd, slot, pieces);
	if (err)
		data_unmap(q, cmd, slot);
	else
		data_keyed(cmd, slot);
	return err;
}

static void bounce_copy(struct nof_cmd *cmd, struct nof_rdma_slot *slot, bool back)
{
	void *at = slot->bounce;
	struct nof_data d;
	size_t n;

	nof_data_init(&d, cmd, back ? ITER_DEST : ITER_SOURCE);
	while (d.left) {
		n = iov_iter_count(&d.iter);
		n = back ? copy_to_iter(at, n, &d.iter) : copy_from_iter(at, n, &d.iter);
		if (WARN_ON_ONCE(!n))
			return;
		at += n;
		nof_data_consumed(&d, n);
	}
}

static void bounce_free(struct nof_cmd *cmd, struct nof_rdma_slot *slot)
{
	free_pages_exact(slot->bounce, cmd->len);
	slot->bounce = NULL;
}

/* Zeroed: bytes that a target does not write must not expose kernel memory */
static int data_bounce(struct nof_rdma_queue *q, struct nof_cmd *cmd, struct nof_rdma_slot *slot)
{
	int err;

	slot->bounce = alloc_pages_exact(cmd->len, GFP_NOWAIT | __GFP_NOWARN | __GFP_ZERO);
	if (!slot->bounce)
		return -ENOMEM;
	if (cmd->write)
		bounce_copy(cmd, slot, false);
	err = data_register(q, cmd, slot);
	if (err)
		bounce_free(cmd, slot);
	return err;
}

/* Sets slot->gpu if the request has pages of a GPU: then the provider maps and unmaps the data */
static void gpu_get(struct nof_cmd *cmd, struct nof_rdma_slot *slot)
{
	slot->gpu = nof_direct_gpu_get();
	if (slot->gpu && !(nof_direct_of(nof_cmd_rq(cmd)) & NOF_DIRECT_GPU)) {
		nof_direct_gpu_put();
		slot->gpu = NULL;
	}
}

static void gpu_put(struct nof_rdma_slot *slot)
{
	if (slot->gpu)
		nof_direct_gpu_put();
	slot->gpu = NULL;
}

/* True for data in another device's memory, which cannot be copied to a bounce buffer */
static bool is_direct(struct nof_cmd *cmd)
{
	return static_branch_unlikely(&nof_direct_key) && nof_direct_of(nof_cmd_rq(cmd));
}

/*
 * The queue limits of a disk satisfy all its paths. A request that was built before this path joined may not: its data
 * go through a bounce buffer.
 */
static int data_set(struct nof_rdma_queue *q, struct nof_cmd *cmd, struct nof_rdma_slot *slot)
{
	int err;

	if (!cmd->len) {
		data_none(cmd, slot);
		return 0;
	}
	if (static_branch_unlikely(&nof_direct_key) && !cmd->buf)
		gpu_get(cmd, slot);
	err = data_register(q, cmd, slot);
	if (unlikely(err))
		gpu_put(slot);
	if (unlikely(err == -EOPNOTSUPP) && !cmd->buf && !is_direct(cmd) && cmd->len < q->max_large * NOF_RDMA_UNIT)
		err = data_bounce(q, cmd, slot);
	return err;
}

int nof_rdma_data_prepare(struct nof_queue *queue, struct nof_cmd *cmd)
{
	struct nof_rdma_queue *q = to_rdma_queue(queue);
	struct nof_rdma_slot *slot = to_rdma_slot(cmd);
	int err = -EAGAIN, unused = 0;

	if (atomic_add_return(NOF_RDMA_WQES, &q->wqes) <= q->max_wrs - queue->limit)
		err = data_set(q, cmd, slot);
	if (err)
		unused = NOF_RDMA_WQES;
	else if (slot->mapped != NOF_RDMA_KEYED)
		unused = NOF_RDMA_WQES - 1;
	if (unused)
		atomic_sub(unused, &q->wqes);
	cmd->sqe.common.flags |= NVME_CMD_SGL_METABUF;
	return err;
}

void nof_rdma_data_release(struct nof_queue *queue, struct nof_cmd *cmd)
{
	struct nof_rdma_queue *q = to_rdma_queue(queue);
	struct nof_rdma_slot *slot = to_rdma_slot(cmd);

	if (slot->mapped == NOF_RDMA_NOTHING)
		return;
	data_unmap(q, cmd, slot);
	gpu_put(slot);
	if (slot->mapped == NOF_RDMA_KEYED)
		mr_put(q, slot);
	slot->mapped = NOF_RDMA_NOTHING;
	if (likely(!slot->bounce))
		return;
	if (!cmd->write)
		bounce_copy(cmd, slot, true);
	bounce_free(cmd, slot);
}
