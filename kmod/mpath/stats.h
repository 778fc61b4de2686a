/* SPDX-License-Identifier: GPL-2.0-only */
/* What a path has done. Written on the hot path without locks, summed up for whoever asks. */
#ifndef NOF_MPATH_STATS_H
#define NOF_MPATH_STATS_H

#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/percpu.h>
#include <uapi/linux/nvmeof.h>

struct nof_path;

/* Reads, writes, by how long they took: see NVMEOF_HIST_BUCKETS */
struct nof_path_hist {
	atomic64_t	nr[2][NVMEOF_HIST_BUCKETS];
};

/*
 * Per CPU. @sent, @back: requests that went out on the path, and that came off it in whatever way.
 * @faults: those @errors that speak against the path, see nof_health_fault(). @ns: reads, writes; the sum of
 * what their histograms count. @hist: of what this CPU has completed; NULL before the first, as most of hundreds of
 * CPUs never do. A task may move to another CPU while it counts
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

/* False without memory; nof_path_stats_free() even then. Context: process */
bool nof_path_stats_alloc(struct nof_path *path);
void nof_path_stats_free(struct nof_path *path);
void nof_path_stats_sum(const struct nof_path *path, struct nof_path_stats *sum);
void nof_path_hist_sum(const struct nof_path *path, bool write, u64 nr[NVMEOF_HIST_BUCKETS]);
/* Requests on it now: exact once no more are sent */
u32 nof_path_inflight(const struct nof_path *path);
/* I/Os that it has completed */
u64 nof_path_ios(const struct nof_path *path);

/* That of this CPU; NULL without memory. Any context */
struct nof_path_hist *nof_path_hist_begin(struct nof_path_stats __percpu *stats);

/* An I/O of @ns is counted, in @bucket; not at all where there is no memory for it */
static inline void nof_path_hist_add(struct nof_path_stats __percpu *stats, bool write, u32 bucket, u64 ns)
{
	struct nof_path_hist *hist = this_cpu_read(stats->hist) ?: nof_path_hist_begin(stats);

	if (unlikely(!hist))
		return;
	atomic64_inc(&hist->nr[write][bucket]);
	this_cpu_add(stats->ns[write], ns);
}

#endif
