/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Kernel types for kernel files without dependencies, compiled in userspace: the needed part of each header, and the
 * system's headers for the rest.
 */
#ifndef SHIM_LINUX_TYPES_H
#define SHIM_LINUX_TYPES_H

#include_next <linux/types.h>
#ifndef __cplusplus
#include <stdbool.h>
#endif
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <endian.h>

/* As in the kernel, 64-bit types are long long on all architectures; only printf formats depend on this. */
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef __u64 u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef __s64 s64;

#define cpu_to_le16 htole16
#define cpu_to_le32 htole32
#define cpu_to_le64 htole64
#define le16_to_cpu le16toh
#define le32_to_cpu le32toh
#define le64_to_cpu le64toh

#endif
