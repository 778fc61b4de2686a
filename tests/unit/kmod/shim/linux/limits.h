/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SHIM_LINUX_LIMITS_H
#define SHIM_LINUX_LIMITS_H

#include_next <linux/limits.h>

#define U16_MAX	((u16)~0U)
#define U32_MAX	((u32)~0U)
#define U64_MAX		UINT64_MAX
#define S64_MAX	((s64)(~(u64)0 >> 1))

#endif
