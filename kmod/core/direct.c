// SPDX-License-Identifier: GPL-2.0-only
#include <linux/blk-mq.h>
#include <linux/completion.h>
#include <linux/memremap.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu-refcount.h>
#include "core/ctrl.h"
#include "core/direct.h"

DEFINE_STATIC_KEY_FALSE(nof_direct_key);
EXPORT_SYMBOL_GPL(nof_direct_key);

static DEFINE_MUTEX(direct_lock);
static const struct nof_direct_gpu __rcu *direct_gpu;
/* Held by each mapping, and while pages are checked */
static struct percpu_ref direct_users;
static DECLARE_COMPLETION(direct_unused);

static void direct_release(struct percpu_ref *ref)
{
	complete(&direct_unused);
}

void nof_direct_enable(void)
{
	static_branch_enable(&nof_direct_key);
}
EXPORT_SYMBOL_GPL(nof_direct_enable);

int nof_direct_register(const struct nof_direct_gpu *gpu)
{
	int ret = -EBUSY;

	mutex_lock(&direct_lock);
	if (rcu_access_pointer(direct_gpu))
		goto unlock;
	ret = percpu_ref_init(&direct_users, direct_release, 0, GFP_KERNEL);
	if (ret)
		goto unlock;
	reinit_completion(&direct_unused);
	rcu_assign_pointer(direct_gpu, gpu);
	/* before the first such page: the provider makes none until this returns */
	nof_direct_enable();
unlock:
	mutex_unlock(&direct_lock);
	return ret;
}
EXPORT_SYMBOL_GPL(nof_direct_register);

void nof_direct_unregister(void)
{
	mutex_lock(&direct_lock);
	if (rcu_access_pointer(direct_gpu)) {
		RCU_INIT_POINTER(direct_gpu, NULL);
		percpu_ref_kill(&direct_users);
		/* in slices, so that the wait for a target is not reported as a hung task */
		while (!wait_for_completion_timeout(&direct_unused, 10 * HZ))
			;
		percpu_ref_exit(&direct_users);
	}
	mutex_unlock(&direct_lock);
}
EXPORT_SYMBOL_GPL(nof_direct_unregister);

const struct nof_direct_gpu *nof_direct_gpu_get(void)
{
	const struct nof_direct_gpu *gpu;

	rcu_read_lock();
	gpu = rcu_dereference(direct_gpu);
	/* percpu_ref_kill() drops the last reference only after a grace period, so not before this section ends */
	if (gpu && !percpu_ref_tryget_live_rcu(&direct_users))
		gpu = NULL;
	rcu_read_unlock();
	return gpu;
}
EXPORT_SYMBOL_GPL(nof_direct_gpu_get);

void nof_direct_gpu_put(void)
{
	percpu_ref_put(&direct_users);
}
EXPORT_SYMBOL_GPL(nof_direct_gpu_put);

/* A discard has a bio without pages; a special payload is memory of this machine */
static bool has_pages(struct request *rq)
{
	return rq->bio && bio_has_data(rq->bio) && !(rq->rq_flags & RQF_SPECIAL_PAYLOAD);
}

unsigned int nof_direct_of(struct request *rq)
{
	const struct nof_direct_gpu *gpu;
	const struct dev_pagemap *from = NULL;
	struct req_iterator iter;
	unsigned int what = 0;
	struct bio_vec bv;

	if (!has_pages(rq))
		return 0;
	gpu = nof_direct_gpu_get();
	rq_for_each_bvec(bv, rq, iter) {
		if (is_pci_p2pdma_page(bv.bv_page)) {
			if (from && from != page_pgmap(bv.bv_page))
				what |= NOF_DIRECT_MIXED;
			from = page_pgmap(bv.bv_page);
			what |= NOF_DIRECT_P2P;
		} else if (gpu && gpu->is(bv.bv_page)) {
			what |= NOF_DIRECT_GPU;
		}
	}
	if (gpu)
		nof_direct_gpu_put();
	return what;
}
EXPORT_SYMBOL_GPL(nof_direct_of);

bool nof_direct_reaches(const struct nof_ctrl *ctrl, unsigned int what)
{
	return (!(what & NOF_DIRECT_P2P) || READ_ONCE(ctrl->limits.p2p)) &&
	       (!(what & NOF_DIRECT_GPU) || READ_ONCE(ctrl->limits.gpu));
}

bool nof_direct_reaches_all(const struct nof_ctrl *ctrl)
{
	return READ_ONCE(ctrl->limits.p2p) && !rcu_access_pointer(direct_gpu);
}
