/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SHIM_LINUX_NVME_TCP_H
#define SHIM_LINUX_NVME_TCP_H

#include <linux/nvme.h>
#include NOF_KERNEL_NVME_TCP_H

#endif
