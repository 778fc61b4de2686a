/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef NOF_COMPAT_WORKQUEUE_H
#define NOF_COMPAT_WORKQUEUE_H

#include <linux/workqueue.h>

#if NOF_HAVE_WQ_PERCPU_DEFAULT
/* Work queues are bound to CPUs unless they have WQ_UNBOUND */
#define WQ_PERCPU	0
#endif

#endif
