/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef NOF_CONTROL_CHARDEV_H
#define NOF_CONTROL_CHARDEV_H

int nof_chardev_init(void);
void nof_chardev_exit(void);

#endif
