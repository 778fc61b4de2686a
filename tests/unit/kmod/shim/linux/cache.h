/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SHIM_LINUX_CACHE_H
#define SHIM_LINUX_CACHE_H

#define ____cacheline_aligned_in_smp __attribute__((__aligned__(64)))

#endif
