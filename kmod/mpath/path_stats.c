// SPDX-License-Identifier: GPL-2.0-only
/* Path statistics, summed over all CPUs */
#include <linux/cpumask.h>
#include <linux/slab.h>
#include "mpath/path.h"
#include "mpath/path_stats.h"

bool nof_path_stats_alloc(struct nof_path *path)
{
	path->stats = alloc_percpu(struct nof_path_stats);
	return path->stats;
}

void nof_path_stats_free(struct nof_path *path)
{
	int cpu;

	if (!path->stats)
		return;
	for_each_possible_cpu(cpu)
		kfree(per_cpu_ptr(path->stats, cpu)->hist);
	free_percpu(path->stats);
}

struct nof_path_hist *nof_path_hist_begin(struct nof_path_stats __percpu *stats)
{
	struct nof_path_hist *hist = kzalloc(sizeof(*hist), GFP_NOWAIT | __GFP_NOWARN), *other;

	if (!hist)
		return NULL;
	/* readers must see the histogram zeroed */
	smp_wmb();
	/* the task may be on another CPU now, and an interrupt may have set the pointer */
	other = this_cpu_cmpxchg(stats->hist, NULL, hist);
	if (!other)
		return hist;
	kfree(hist);
	return other;
}

void nof_path_stats_sum(const struct nof_path *path, struct nof_path_stats *sum)
{
	int cpu;

	memset(sum, 0, sizeof(*sum));
	for_each_possible_cpu(cpu) {
		const struct nof_path_stats *st = per_cpu_ptr(path->stats, cpu);

		sum->ios += READ_ONCE(st->ios);
		sum->bytes_read += READ_ONCE(st->bytes_read);
		sum->bytes_written += READ_ONCE(st->bytes_written);
		sum->errors += READ_ONCE(st->errors);
		sum->faults += READ_ONCE(st->faults);
		sum->ns[0] += READ_ONCE(st->ns[0]);
		sum->ns[1] += READ_ONCE(st->ns[1]);
		sum->retries += READ_ONCE(st->retries);
		sum->failovers_from += READ_ONCE(st->failovers_from);
		sum->failovers_to += READ_ONCE(st->failovers_to);
	}
}

void nof_path_hist_sum(const struct nof_path *path, bool write, u64 nr[NVMEOF_HIST_BUCKETS])
{
	u32 bucket;
	int cpu;

	memset(nr, 0, NVMEOF_HIST_BUCKETS * sizeof(*nr));
	for_each_possible_cpu(cpu) {
		const struct nof_path_hist *hist = READ_ONCE(per_cpu_ptr(path->stats, cpu)->hist);

		for (bucket = 0; hist && bucket < NVMEOF_HIST_BUCKETS; bucket++)
			nr[bucket] += atomic64_read(&hist->nr[write][bucket]);
	}
}

u32 nof_path_inflight(const struct nof_path *path)
{
	u64 sent = 0, back = 0;
	int cpu;

	/* in this order: a request sent and completed between the two sums counts as in flight */
	for_each_possible_cpu(cpu)
		back += READ_ONCE(per_cpu_ptr(path->stats, cpu)->back);
	smp_rmb();
	for_each_possible_cpu(cpu)
		sent += READ_ONCE(per_cpu_ptr(path->stats, cpu)->sent);
	return sent - back;
}

u64 nof_path_ios(const struct nof_path *path)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(path->stats, cpu)->ios);
	return sum;
}
