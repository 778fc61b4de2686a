// SPDX-License-Identifier: GPL-2.0-only
#include <linux/mempool.h>
#include <linux/nvme.h>
#include "mpath/discard_ranges.h"
#include "mpath/head.h"
#include "mpath/request.h"

/* One element in reserve: without other memory, one such discard at a time is still possible */
static mempool_t *pool;

int nof_ranges_init(void)
{
	pool = mempool_create_kmalloc_pool(1, NOF_MAX_RANGES * sizeof(struct nvme_dsm_range));
	return pool ? 0 : -ENOMEM;
}

void nof_ranges_exit(void)
{
	mempool_destroy(pool);
}

bool nof_ranges_get(struct nof_request *req)
{
	if (!req->ranges)
		req->ranges = mempool_alloc(pool, GFP_NOWAIT | __GFP_NOWARN);
	return req->ranges;
}

void nof_ranges_put(struct nof_request *req)
{
	mempool_free(req->ranges, pool);
	req->ranges = NULL;
}
