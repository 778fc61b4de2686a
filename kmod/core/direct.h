/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Data in the memory of other devices: PCI peer-to-peer pages, and pages that stand for a GPU's memory, of which only
 * who made them knows what is behind (nvmeof_nvfs). A path that does not reach such memory must not get them: it
 * would read or write something else.
 */
#ifndef NOF_CORE_DIRECT_H
#define NOF_CORE_DIRECT_H

#include <linux/dma-direction.h>
#include <linux/jump_label.h>
#include <linux/types.h>

struct device;
struct nof_ctrl;
struct page;
struct request;
struct scatterlist;

/* Set for good when there may be such data for the first time: until then nobody looks */
DECLARE_STATIC_KEY_FALSE(nof_direct_key);

enum {
	NOF_DIRECT_P2P		= 1 << 0,
	NOF_DIRECT_GPU		= 1 << 1,
	NOF_DIRECT_MIXED	= 1 << 2,	/* of more than one provider: no memory region has those */
};

/**
 * struct nof_direct_gpu - who makes pages that stand for a GPU's memory
 * @is:		whether a page does. Any context.
 * @gather:	as blk_rq_map_sg(): pieces, 0 if there are no such pages in it, or a negative errno. Process context,
 *		may sleep.
 * @map:	as ib_dma_map_sg(): pieces, or a negative errno. Likewise.
 * @unmap:	mirror of @map. Any context, does not sleep.
 */
struct nof_direct_gpu {
	bool (*is)(struct page *page);
	int (*gather)(struct request *rq, struct scatterlist *sgl);
	int (*map)(struct device *dev, struct scatterlist *sgl, int n, enum dma_data_direction dir);
	void (*unmap)(struct device *dev, struct scatterlist *sgl, int n, enum dma_data_direction dir);
};

/* There may be peer-to-peer pages from now on. Context: process, sleeps. */
void nof_direct_enable(void);
/* One at a time: 0, -EBUSY or -ENOMEM. Context: process, sleeps. */
int nof_direct_register(const struct nof_direct_gpu *gpu);
/* Waits until nothing is mapped by it. */
void nof_direct_unregister(void);
/* It stays until it is put; NULL: none. Any context. */
const struct nof_direct_gpu *nof_direct_gpu_get(void);
void nof_direct_gpu_put(void);
/* What there is among the data of a request: bits NOF_DIRECT_*. Any context. */
unsigned int nof_direct_of(struct request *rq);
/* A controller's connections reach data of this kind */
bool nof_direct_reaches(const struct nof_ctrl *ctrl, unsigned int what);
/* And any that there may be now, so that pages need not be looked at */
bool nof_direct_reaches_all(const struct nof_ctrl *ctrl);

#endif
