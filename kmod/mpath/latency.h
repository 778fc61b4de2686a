/* SPDX-License-Identifier: GPL-2.0-only */
/* Latency of requests on a path. Pure arithmetic, also compiled in userspace. */
#ifndef NOF_MPATH_LATENCY_H
#define NOF_MPATH_LATENCY_H

#include <linux/bitops.h>
#include <linux/cache.h>
#include <linux/jiffies.h>
#include <linux/limits.h>
#include <linux/types.h>
#include <uapi/linux/nvmeof.h>

#define NOF_LAT_LARGE		32768	/* bytes; larger requests are in the large class */
#define NOF_LAT_SHIFT		3	/* weight of a sample: 1/8 */
#define NOF_LAT_STALE_MS	250	/* after this time without a sample, the next one replaces the average */
#define NOF_LAT_PROBE_MS	400	/* time without a sample after which a request probes the path */

#define NOF_LAT_STALE		msecs_to_jiffies(NOF_LAT_STALE_MS)
#define NOF_LAT_PROBE		msecs_to_jiffies(NOF_LAT_PROBE_MS)

/* Reads and writes, small and large: the latency of one class does not predict another's */
enum nof_lat_class { NOF_LAT_READ, NOF_LAT_READ_LARGE, NOF_LAT_WRITE, NOF_LAT_WRITE_LARGE, NOF_LAT_CLASSES };

/**
 * struct nof_path_lat - latency of a path as seen by one hardware context
 * @ewma:	exponentially weighted moving average, ns; 0: unknown
 * @heard:	jiffies of the last sample, low 32 bits
 * @probed:	likewise, of the last request that was sent as a probe
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

/* Returns the average with one more sample, never 0. @fresh: earlier samples are too old and ignored. */
static inline u32 nof_lat_next(u32 ewma, u64 ns, bool fresh)
{
	u32 sample = ns > U32_MAX ? U32_MAX : ns;

	if (!ewma || fresh)
		return sample ?: 1;
	return (u32)((s64)ewma + (((s64)sample - ewma) >> NOF_LAT_SHIFT)) ?: 1;
}

/* Expected latency of a request submitted now, ns */
static inline u64 nof_lat_expect(u32 ewma, u32 depth)
{
	return (u64)ewma * ((u64)depth + 1);
}

/*
 * True if the other path is better than the one preferred so far, given their averages and depths; false if they are
 * equal. If only one average is known, the path without one gets one request at a time, to obtain a sample.
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
 * True if a path without a recent sample is due for a probe. Not while the previous probe may be outstanding. As the
 * depth includes requests of other namespaces, a probe is assumed lost after four intervals.
 */
static inline bool nof_lat_due(u32 now, u32 heard, u32 probed, u32 depth)
{
	u32 age = now - probed;

	if (now - heard < NOF_LAT_PROBE || age < NOF_LAT_PROBE)
		return false;
	return !depth || (s32)(heard - probed) >= 0 || age >= 4 * NOF_LAT_PROBE;
}

/* Returns the average, or 0 (unknown) if it has had no sample for NOF_LAT_PROBE */
static inline u32 nof_lat_known(u32 now, u32 ewma, u32 heard)
{
	return now - heard <= NOF_LAT_PROBE ? ewma : 0;
}

/* Index into the histogram, see NVMEOF_HIST_BUCKETS */
static inline unsigned int nof_lat_bucket(u64 ns)
{
	u64 units = ns / NVMEOF_HIST_UNIT_NS;
	unsigned int bucket = units ? fls64(units) : 0;

	return bucket < NVMEOF_HIST_BUCKETS ? bucket : NVMEOF_HIST_BUCKETS - 1;
}

#endif
