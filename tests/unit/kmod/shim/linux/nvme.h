/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The kernel's header, from its headers package; CMake finds its directory. */
#ifndef SHIM_LINUX_NVME_H
#define SHIM_LINUX_NVME_H

#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/stddef.h>
#include <linux/types.h>
#include NOF_KERNEL_NVME_H

#endif
