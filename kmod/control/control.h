/* SPDX-License-Identifier: GPL-2.0-only */
/* What the core sees of control/: netlink family, sysfs classes, character devices. */
#ifndef NOF_CONTROL_H
#define NOF_CONTROL_H

#include <linux/device.h>

struct nof_ctrl;

/* Before the first object can exist, and after the last one is gone. */
int nof_control_init(void);
void nof_control_exit(void);

/* /sys/class/nvmeof-subsystem with its attributes, for subsys->dev.class. A controller's: see below. */
extern nof_class_const struct class nof_subsys_class;

/**
 * nof_chardev_add() - make a controller visible: its device, sysfs attributes and /dev node, in one step
 * @ctrl:	named, and initialised as far as attributes and ioctls look at it; its subsystem's device is added
 */
int nof_chardev_add(struct nof_ctrl *ctrl);
/* The mirror. Open files stay open: their ioctls then fail with -ENODEV, and they hold the last references. */
void nof_chardev_del(struct nof_ctrl *ctrl);

#endif
