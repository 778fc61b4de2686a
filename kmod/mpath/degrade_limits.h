/* SPDX-License-Identifier: GPL-2.0-only */
/* Whether a path is so much worse than its peers that it is degraded. Pure arithmetic, also compiled in userspace. */
#ifndef NOF_MPATH_DEGRADE_LIMITS_H
#define NOF_MPATH_DEGRADE_LIMITS_H

#include <linux/types.h>

#define NOF_OUTLIER_TIMES	4		/* an outlier's latency exceeds this multiple of a peer's, */
#define NOF_OUTLIER_NS		1000000		/* and by this difference: less is not worth it */
#define NOF_RETURN_TIMES	2		/* a good probe's latency is up to this multiple of the peers', */
#define NOF_RETURN_NS		500000		/* or exceeds it by at most this difference */
#define NOF_OUTLIER_FAULTS	5		/* fewer errors are ignored */
#define NOF_OUTLIER_SHARE	10		/* at least one in this many requests failed */

static inline bool nof_outlier_slow(u32 own, u32 peer)
{
	return own > (u64)peer * NOF_OUTLIER_TIMES && own > (u64)peer + NOF_OUTLIER_NS;
}

/* Highest latency of a good probe, ns */
static inline u64 nof_outlier_limit(u32 peers)
{
	u64 times = (u64)peers * NOF_RETURN_TIMES, more = (u64)peers + NOF_RETURN_NS;

	return times > more ? times : more;
}

/*
 * @done: requests without error, of the path and of all its peers. Errors that the peers see nearly as often are not
 * the path's fault.
 */
static inline bool nof_outlier_faulty(u32 done, u32 faults, u32 peers_done, u32 peers_faults)
{
	u64 all = (u64)done + faults, peers_all = (u64)peers_done + peers_faults;

	if (faults < NOF_OUTLIER_FAULTS || (u64)faults * NOF_OUTLIER_SHARE < all)
		return false;
	return !peers_all || faults * peers_all >= NOF_OUTLIER_TIMES * (u64)peers_faults * all;
}

#endif
