/* SPDX-License-Identifier: GPL-2.0-only */
/* Path statistics. Updated per CPU on the fast path without locks, summed by readers. */
#ifndef NOF_MPATH_PATH_STATS_H
#define NOF_MPATH_PATH_STATS_H

#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/percpu.h>
#include <uapi/linux/nvmeof.h>

struct nof_path;

/* Reads [0] and writes [1] by latency, see NVMEOF_HIST_BUCKETS */
struct nof_path_hist {
	atomic64_t	nr[2][NVMEOF_HIST_BUCKETS];
};

/*
 * Per CPU. @sent, @back: requests submitted on the path, and requests that have left it (completed, cancelled or
 * detached). @faults: errors that indicate a fault of the path, see nof_degrade_fault(). @ns: sum of the latencies that
 * the histograms count, reads [0] and writes [1]. @hist: completions on this CPU; allocated by the first one, because
 * most of hundreds of CPUs complete none. A task may migrate between two updates.
 */
struct nof_path_stats {
	u64	sent;
	u64	back;
	u64	ios;
	u64	bytes_read;
	u64	bytes_written;
	u64	errors;
	u64	faults;
	u64	retries;
	u64	failovers_from;
	u64	failovers_to;
	u64	ns[2];
	struct nof_path_hist *hist;
};

/* False without memory; the caller has to call nof_path_stats_free() in any case. Context: process */
bool nof_path_stats_alloc(struct nof_path *path);
void nof_path_stats_free(struct nof_path *path);
void nof_path_stats_sum(const struct nof_path *path, struct nof_path_stats *sum);
void nof_path_hist_sum(const struct nof_path *path, bool write, u64 nr[NVMEOF_HIST_BUCKETS]);
/* Requests in flight on the path; exact once no more are sent */
u32 nof_path_inflight(const struct nof_path *path);
/* I/Os completed on the path */
u64 nof_path_ios(const struct nof_path *path);

/* Allocates the histogram of this CPU; NULL without memory. Any context */
struct nof_path_hist *nof_path_hist_begin(struct nof_path_stats __percpu *stats);

/* Counts an I/O of @ns in @bucket, unless there is no memory for the histogram */
static inline void nof_path_hist_add(struct nof_path_stats __percpu *stats, bool write, u32 bucket, u64 ns)
{
	struct nof_path_hist *hist = this_cpu_read(stats->hist) ?: nof_path_hist_begin(stats);

	if (unlikely(!hist))
		return;
	atomic64_inc(&hist->nr[write][bucket]);
	this_cpu_add(stats->ns[write], ns);
}

#endif
