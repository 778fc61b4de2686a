/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Types that the stubs of kernel APIs use */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef u64 sector_t;
typedef unsigned int gfp_t;

#define __user
#define IS_ENABLED(option) ((option) == 1)
