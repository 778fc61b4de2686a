/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Force-included before everything else in each file of the modules. Gives older kernels the API spelling of the newest
 * supported one. compat_config.h has the results of the probes. Other differences have headers of their own, which
 * files include as needed: dispatch.h, hrtimer.h, limits.h, pr.h, sock_send.h, tcp.h, trace.h, uring.h, zones.h.
 */
#ifndef NOF_COMPAT_H
#define NOF_COMPAT_H

#include "compat_config.h"

#include "compat/blk.h"
#include "compat/dev.h"
#include "compat/net.h"
#include "compat/nvme.h"
#include "compat/string.h"
#include "compat/workqueue.h"

#endif
