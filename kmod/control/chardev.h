/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef NOF_CONTROL_CHARDEV_H
#define NOF_CONTROL_CHARDEV_H

struct nof_ctrl;

int nof_chardev_init(void);
void nof_chardev_exit(void);
/**
 * nof_chardev_add() - make a controller visible: its device, sysfs attributes and /dev node, in one step
 * @ctrl:	named, and initialised as far as attributes and ioctls look at it; its subsystem's device is added
 */
int nof_chardev_add(struct nof_ctrl *ctrl);
/* The mirror. Open files stay open: their ioctls then fail with -ENODEV, and they hold the last references. */
void nof_chardev_del(struct nof_ctrl *ctrl);

#endif
