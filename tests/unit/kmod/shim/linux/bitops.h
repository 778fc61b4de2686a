/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SHIM_LINUX_BITOPS_H
#define SHIM_LINUX_BITOPS_H

#include <linux/types.h>

/* Number of the highest bit that is set, counted from 1; 0 if there is none */
static inline int fls64(u64 x)
{
	return x ? 64 - __builtin_clzll(x) : 0;
}

#endif
