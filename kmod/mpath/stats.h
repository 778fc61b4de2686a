/* SPDX-License-Identifier: GPL-2.0-only */
/* What a path has done. Written on the hot path without locks, summed up for whoever asks. */
#ifndef NOF_MPATH_STATS_H
#define NOF_MPATH_STATS_H

#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/percpu.h>
#include <linux/smp.h>
#include <uapi/linux/nvmeof.h>

struct nof_path;

/* CPUs whose numbers differ by a multiple of it share a histogram: one for each of many would be 100 KB a path */
#define NOF_STATS_HISTS	32

/*
 * Per CPU. @sent, @back: requests that went out on the path, and that came off it in whatever way.
 * @faults: those @errors that speak against the path, see nof_health_fault(). @ns: reads, writes; the sum of
 * what their histograms count
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
};

/* Reads, writes, by how long they took: see NVMEOF_HIST_BUCKETS */
struct nof_path_hist {
	atomic64_t	nr[2][NVMEOF_HIST_BUCKETS];
} ____cacheline_aligned_in_smp;

/* False without memory; nof_path_stats_free() even then. Context: process */
bool nof_path_stats_alloc(struct nof_path *path);
void nof_path_stats_free(struct nof_path *path);
void nof_path_stats_sum(const struct nof_path *path, struct nof_path_stats *sum);
void nof_path_hist_sum(const struct nof_path *path, bool write, u64 nr[NVMEOF_HIST_BUCKETS]);
/* Requests on it now: exact once no more are sent */
u32 nof_path_inflight(const struct nof_path *path);
/* I/Os that it has completed */
u64 nof_path_ios(const struct nof_path *path);

static inline void nof_path_hist_inc(struct nof_path_hist *hists, bool write, u32 bucket)
{
	atomic64_inc(&hists[raw_smp_processor_id() % NOF_STATS_HISTS].nr[write][bucket]);
}

#endif
