/* SPDX-License-Identifier: GPL-2.0-only */
/* When a path is so much worse than its peers that it is left out. Pure arithmetic, also compiled in userspace. */
#ifndef NOF_MPATH_OUTLIER_H
#define NOF_MPATH_OUTLIER_H

#include <linux/types.h>

#define NOF_OUTLIER_TIMES	4		/* an outlier's latency is above so many times a peer's */
#define NOF_OUTLIER_NS		1000000		/* and by that much: below, nobody gains by leaving it out */
#define NOF_RETURN_TIMES	2		/* a probe is good up to so many times the peers' latency */
#define NOF_RETURN_NS		500000		/* or up to that much above it */
#define NOF_OUTLIER_FAULTS	5		/* fewer errors are no pattern */
#define NOF_OUTLIER_SHARE	10		/* one in so many requests failed */

static inline bool nof_outlier_slow(u32 own, u32 peer)
{
	return own > (u64)peer * NOF_OUTLIER_TIMES && own > (u64)peer + NOF_OUTLIER_NS;
}

/* The longest time that a good probe may take: ns */
static inline u64 nof_outlier_limit(u32 peers)
{
	u64 times = (u64)peers * NOF_RETURN_TIMES, more = (u64)peers + NOF_RETURN_NS;

	return times > more ? times : more;
}

/* @done: good requests; of the path, and of all its peers. An error that they see as often is not the path's. */
static inline bool nof_outlier_faulty(u32 done, u32 faults, u32 peers_done, u32 peers_faults)
{
	u64 all = (u64)done + faults, peers_all = (u64)peers_done + peers_faults;

	if (faults < NOF_OUTLIER_FAULTS || (u64)faults * NOF_OUTLIER_SHARE < all)
		return false;
	return !peers_all || faults * peers_all >= NOF_OUTLIER_TIMES * (u64)peers_faults * all;
}

#endif
