/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SHIM_LINUX_KERNEL_H
#define SHIM_LINUX_KERNEL_H

#include <linux/types.h>
#include <stdio.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)
#define scnprintf(...)	snprintf(__VA_ARGS__) /* for texts that fit */

#ifndef __cplusplus
/* Strict about types like the kernel's macros */
#define min(a, b) ({ __typeof__(a) a_ = (a); __typeof__(b) b_ = (b); (void)(&a_ == &b_); a_ < b_ ? a_ : b_; })
#define max(a, b) ({ __typeof__(a) a_ = (a); __typeof__(b) b_ = (b); (void)(&a_ == &b_); a_ > b_ ? a_ : b_; })
#define min_t(type, a, b) min((type)(a), (type)(b))
#define max_t(type, a, b) max((type)(a), (type)(b))
#endif

#endif
