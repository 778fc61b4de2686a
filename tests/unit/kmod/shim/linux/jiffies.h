/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SHIM_LINUX_JIFFIES_H
#define SHIM_LINUX_JIFFIES_H

#define HZ 250
#define msecs_to_jiffies(ms) ((ms) * HZ / 1000)
#define time_before(a, b) ((long)((a) - (b)) < 0)
#define time_before_eq(a, b) ((long)((a) - (b)) <= 0)

#endif
