/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Data in the memory of other devices: PCI peer-to-peer pages, and pages that stand for GPU memory, which only their
 * provider (nvmeof_nvfs) can map. A path that cannot access such memory must not get these pages: it would read or
 * write other memory.
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

/* Enabled for good when such data are first possible: until then requests are not checked */
DECLARE_STATIC_KEY_FALSE(nof_direct_key);

enum {
	NOF_DIRECT_P2P		= 1 << 0,
	NOF_DIRECT_GPU		= 1 << 1,
	NOF_DIRECT_MIXED	= 1 << 2,	/* peer-to-peer memory of several providers: not in one memory region */
};

/**
 * struct nof_direct_gpu - provider of pages that stand for GPU memory
 * @is:		true if a page stands for GPU memory. Any context.
 * @gather:	as blk_rq_map_sg(): number of segments, 0 if the request has no such pages, or a negative errno. Process
 *		context, may sleep.
 * @map:	as ib_dma_map_sg(): number of segments, or a negative errno. Process context, may sleep.
 * @unmap:	mirror of @map. Any context, does not sleep.
 */
struct nof_direct_gpu {
	bool (*is)(struct page *page);
	int (*gather)(struct request *rq, struct scatterlist *sgl);
	int (*map)(struct device *dev, struct scatterlist *sgl, int n, enum dma_data_direction dir);
	void (*unmap)(struct device *dev, struct scatterlist *sgl, int n, enum dma_data_direction dir);
};

/* Peer-to-peer pages are possible from now on. Context: process, sleeps. */
void nof_direct_enable(void);
/* Registers the only provider. Returns 0, -EBUSY or -ENOMEM. Context: process, sleeps. */
int nof_direct_register(const struct nof_direct_gpu *gpu);
/* Waits until all mappings of the provider are released. Context: process, sleeps. */
void nof_direct_unregister(void);
/* Returns the provider, which stays until nof_direct_gpu_put(), or NULL. Any context. */
const struct nof_direct_gpu *nof_direct_gpu_get(void);
void nof_direct_gpu_put(void);
/* Returns NOF_DIRECT_* bits for the data of a request. Any context. */
unsigned int nof_direct_of(struct request *rq);
/* True if the controller can transfer data of this kind */
bool nof_direct_reaches(const struct nof_ctrl *ctrl, unsigned int what);
/* True if it can transfer all kinds possible now, so that pages need no check. False with a GPU provider. */
bool nof_direct_reaches_all(const struct nof_ctrl *ctrl);

#endif
