/* SPDX-License-Identifier: GPL-2.0-only */
/* How long requests take on a path. Pure arithmetic, also compiled in userspace. */
#ifndef NOF_MPATH_LATENCY_H
#define NOF_MPATH_LATENCY_H

#include <linux/bitops.h>
#include <linux/cache.h>
#include <linux/jiffies.h>
#include <linux/limits.h>
#include <linux/types.h>
#include <uapi/linux/nvmeof.h>

#define NOF_LAT_LARGE		32768	/* bytes; a request above that counts as large */
#define NOF_LAT_SHIFT		3	/* a sample weighs 1/8 */
#define NOF_LAT_STALE_MS	250	/* after that long without a sample the next one stands alone */
#define NOF_LAT_PROBE_MS	400	/* so long a path may go without a sample before a request is spent on one */

#define NOF_LAT_STALE		msecs_to_jiffies(NOF_LAT_STALE_MS)
#define NOF_LAT_PROBE		msecs_to_jiffies(NOF_LAT_PROBE_MS)

/* Reads and writes, small and large: these do not predict one another */
enum nof_lat_class { NOF_LAT_READ, NOF_LAT_READ_LARGE, NOF_LAT_WRITE, NOF_LAT_WRITE_LARGE, NOF_LAT_CLASSES };

/**
 * struct nof_path_lat - of one path as one hardware context sees it
 * @ewma:	exponentially weighted moving average, ns; 0 while unknown
 * @heard:	jiffies, low 32 bits, of the last sample
 * @probed:	likewise of the last request that was spent to get one
 */
struct nof_path_lat {
	u32	ewma[NOF_LAT_CLASSES];
	u32	heard[NOF_LAT_CLASSES];
	u32	probed[NOF_LAT_CLASSES];
} ____cacheline_aligned_in_smp;

static inline enum nof_lat_class nof_lat_class(bool write, u32 bytes)
{
	return (enum nof_lat_class)(2 * (u32)write + (bytes > NOF_LAT_LARGE));
}

/* The average with one more sample; @fresh: the earlier ones are too old to count. Never 0. */
static inline u32 nof_lat_next(u32 ewma, u64 ns, bool fresh)
{
	u32 sample = ns > U32_MAX ? U32_MAX : ns;

	if (!ewma || fresh)
		return sample ?: 1;
	return (u32)((s64)ewma + (((s64)sample - ewma) >> NOF_LAT_SHIFT)) ?: 1;
}

/* When a request sent now would be done: ns */
static inline u64 nof_lat_expect(u32 ewma, u32 depth)
{
	return (u64)ewma * ((u64)depth + 1);
}

/*
 * Is the other path the better choice? Averages and depths, first of the one preferred so far. Equal is not better. A
 * path that is unknown beside a known one gets one request at a time: that makes it known.
 */
static inline bool nof_lat_better(u32 ewma, u32 depth, u32 other_ewma, u32 other_depth)
{
	if (ewma && other_ewma)
		return nof_lat_expect(other_ewma, other_depth) < nof_lat_expect(ewma, depth);
	if (!ewma && !other_ewma)
		return other_depth < depth;
	return ewma ? !other_depth : depth;
}

/*
 * Is a request to be spent on a path that has not been heard of for a while? Not while the last such one is still out,
 * as far as one can tell: what else makes the queue busy may be other namespaces, so in the end it is not waited for.
 */
static inline bool nof_lat_due(u32 now, u32 heard, u32 probed, u32 depth)
{
	u32 age = now - probed;

	if (now - heard < NOF_LAT_PROBE || age < NOF_LAT_PROBE)
		return false;
	return !depth || (s32)(heard - probed) >= 0 || age >= 4 * NOF_LAT_PROBE;
}

/* What is known about now: an average that nobody has confirmed for longer than a probe takes to come says nothing */
static inline u32 nof_lat_known(u32 now, u32 ewma, u32 heard)
{
	return now - heard <= NOF_LAT_PROBE ? ewma : 0;
}

/* Of the histogram in the uapi header */
static inline unsigned int nof_lat_bucket(u64 ns)
{
	u64 units = ns / NVMEOF_HIST_UNIT_NS;
	unsigned int bucket = units ? fls64(units) : 0;

	return bucket < NVMEOF_HIST_BUCKETS ? bucket : NVMEOF_HIST_BUCKETS - 1;
}

#endif
