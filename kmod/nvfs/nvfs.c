// SPDX-License-Identifier: GPL-2.0-only
/*
 * GPUDirect Storage by nvidia-fs: pages of an application stand for memory of a GPU, and nvidia-fs maps that memory for
 * the device in their place. nvidia-fs finds this module by the function names of the in-tree driver for NVMe/RDMA. It
 * registers when its own device is opened, which takes a reference on this module, and unregisters on the last close.
 * This module uses nothing of nvidia-fs but the operations it registers: see Documentation/gpu.md.
 */
#include <linux/blk-mq.h>
#include <linux/dma-mapping.h>
#include <linux/module.h>
#include "core/direct.h"
#include "core/source.h"
#include "nvfs/nvfs.h"

/* Set before nof_direct_register() and cleared after nof_direct_unregister(): valid in all callbacks */
static const struct nvfs_dma_rw_ops *nvfs_ops;

static bool nvfs_is(struct page *page)
{
	return nvfs_ops->nvfs_is_gpu_page(page);
}

static int nvfs_errno(int n)
{
	return n == NVFS_BAD_REQ ? -EOPNOTSUPP : -EIO;
}

static int nvfs_gather(struct request *rq, struct scatterlist *sgl)
{
	int n = nvfs_ops->nvfs_blk_rq_map_sg(rq->q, rq, sgl);

	/* 0: nvidia-fs finds no GPU pages, but the caller has found some */
	return n > 0 ? n : nvfs_errno(n ?: NVFS_BAD_REQ);
}

static int nvfs_map(struct device *dev, struct scatterlist *sgl, int n, enum dma_data_direction dir)
{
	int mapped = nvfs_ops->nvfs_dma_map_sg_attrs(dev, sgl, n, dir, DMA_ATTR_NO_WARN);

	return mapped > 0 ? mapped : nvfs_errno(mapped);
}

static void nvfs_unmap(struct device *dev, struct scatterlist *sgl, int n, enum dma_data_direction dir)
{
	if (!nvfs_ops->nvfs_dma_unmap_sg(dev, sgl, n, dir))
		pr_warn_ratelimited("nvmeof: nvidia-fs failed to unmap data\n");
}

static const struct nof_direct_gpu nvfs_gpu = {
	.is	= nvfs_is,
	.gather	= nvfs_gather,
	.map	= nvfs_map,
	.unmap	= nvfs_unmap,
};

static bool nvfs_complete(const struct nvfs_dma_rw_ops *ops)
{
	const unsigned long long needed = NVFS_FT_PREP_SGLIST | NVFS_FT_MAP_SGLIST | NVFS_FT_IS_GPU_PAGE;

	return (ops->ft_bmap & needed) == needed && ops->nvfs_blk_rq_map_sg && ops->nvfs_dma_map_sg_attrs &&
	       ops->nvfs_dma_unmap_sg && ops->nvfs_is_gpu_page;
}

int nvme_rdma_v1_register_nvfs_dma_ops(struct nvfs_dma_rw_ops *ops)
{
	int err;

	if (!ops || !nvfs_complete(ops)) {
		pr_warn("nvmeof: nvidia-fs not registered: required operations are missing\n");
		return -EOPNOTSUPP;
	}
	if (cmpxchg(&nvfs_ops, NULL, ops))
		return -EBUSY;
	err = nof_direct_register(&nvfs_gpu);
	if (err)
		nvfs_ops = NULL;
	else
		pr_info("nvmeof: nvidia-fs registered\n");
	return err;
}
EXPORT_SYMBOL_GPL(nvme_rdma_v1_register_nvfs_dma_ops);

void nvme_rdma_v1_unregister_nvfs_dma_ops(void)
{
	nof_direct_unregister();
	nvfs_ops = NULL;
	pr_info("nvmeof: nvidia-fs unregistered\n");
}
EXPORT_SYMBOL_GPL(nvme_rdma_v1_unregister_nvfs_dma_ops);

MODULE_DESCRIPTION("NVMe over Fabrics host: GPUDirect Storage by nvidia-fs");
MODULE_LICENSE("GPL");
MODULE_VERSION(NVMEOF_VERSION);
