/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Operations that nvidia-fs passes to a storage driver when it registers, as published with nvidia-fs (version 1 of the
 * interface). nvidia-fs looks up the two functions below by name.
 */
#ifndef NOF_NVFS_H
#define NOF_NVFS_H

#include <linux/dma-direction.h>
#include <linux/types.h>

struct device;
struct nvfs_rdma_info;
struct page;
struct request;
struct request_queue;
struct scatterlist;

/* Return values of the operations other than a number of pieces */
enum { NVFS_IO_ERR = -1, NVFS_BAD_REQ = -2 };

/* Bits of ft_bmap: operations that nvidia-fs provides */
enum {
	NVFS_FT_PREP_SGLIST	= 1 << 0,
	NVFS_FT_MAP_SGLIST	= 1 << 1,
	NVFS_FT_IS_GPU_PAGE	= 1 << 2,
};

struct nvfs_dma_rw_ops {
	unsigned long long ft_bmap;
	int (*nvfs_blk_rq_map_sg)(struct request_queue *q, struct request *rq, struct scatterlist *sgl);
	int (*nvfs_dma_map_sg_attrs)(struct device *dev, struct scatterlist *sgl, int n, enum dma_data_direction dir,
				     unsigned long attrs);
	int (*nvfs_dma_unmap_sg)(struct device *dev, struct scatterlist *sgl, int n, enum dma_data_direction dir);
	bool (*nvfs_is_gpu_page)(struct page *page);
	unsigned int (*nvfs_gpu_index)(struct page *page);
	unsigned int (*nvfs_device_priority)(struct device *dev, unsigned int gpu_index);
	int (*nvfs_get_gpu_sglist_rdma_info)(struct scatterlist *sgl, int n, struct nvfs_rdma_info *info);
};

int nvme_rdma_v1_register_nvfs_dma_ops(struct nvfs_dma_rw_ops *ops);
void nvme_rdma_v1_unregister_nvfs_dma_ops(void);

#endif
