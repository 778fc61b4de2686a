// SPDX-License-Identifier: GPL-2.0-only
/*
 * sample: a path selector in a module of its own, as anybody could write one. The path with the fewest bytes under way
 * gets the next request; among equals the first.
 */
#include <linux/blk-mq.h>
#include <linux/module.h>
#include "mpath/path.h"
#include "mpath/selector.h"

/* Over all paths, so that a test can see that each start has its end */
static atomic64_t bytes_out;

static struct nof_path *select(struct nof_path *const *paths, u16 nr, struct request *rq)
{
	struct nof_path *best = paths[0];
	u16 i;

	for (i = 1; i < nr; i++)
		if (atomic64_read(&paths[i]->sel) < atomic64_read(&best->sel))
			best = paths[i];
	return best;
}

static void start(struct nof_path *path, struct request *rq)
{
	atomic64_add(blk_rq_bytes(rq), &path->sel);
	atomic64_add(blk_rq_bytes(rq), &bytes_out);
}

static void end(struct nof_path *path, struct request *rq, u64 ns)
{
	atomic64_sub(blk_rq_bytes(rq), &path->sel);
	atomic64_sub(blk_rq_bytes(rq), &bytes_out);
}

static struct nof_selector sample = {
	.name	= "sample",
	.owner	= THIS_MODULE,
	.api	= NOF_SELECTOR_API,
	.select	= select,
	.start	= start,
	.end	= end,
};

static int get_bytes_out(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%lld\n", atomic64_read(&bytes_out));
}

static const struct kernel_param_ops bytes_out_ops = { .get = get_bytes_out };
module_param_cb(bytes_out, &bytes_out_ops, NULL, 0444);
MODULE_PARM_DESC(bytes_out, "bytes under way on all paths since the policy was chosen");

/* For tests: what would happen to a module that was built for another nvmeof */
static ushort api;
module_param(api, ushort, 0);
MODULE_PARM_DESC(api, "version of the interface to claim, instead of that it was built for");

static int __init sample_init(void)
{
	if (api)
		sample.api = api;
	return nof_selector_register(&sample);
}

static void __exit sample_exit(void)
{
	nof_selector_unregister(&sample);
}

module_init(sample_init);
module_exit(sample_exit);
MODULE_DESCRIPTION("A path selector for nvmeof, to build others after");
MODULE_LICENSE("GPL");
