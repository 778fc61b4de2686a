/* SPDX-License-Identifier: GPL-2.0-only */
/* All of control/: netlink family, sysfs classes, character devices. */
#ifndef NOF_CONTROL_H
#define NOF_CONTROL_H

/* Before the first object can exist, and after the last one is gone. */
int nof_control_init(void);
void nof_control_exit(void);

#endif
