/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef NOF_CONTROL_SYSFS_H
#define NOF_CONTROL_SYSFS_H

#include <linux/device.h>

/* /sys/class/nvmeof-subsystem and /sys/class/nvmeof, with their attributes */
extern nof_class_const struct class nof_subsys_class;
extern nof_class_const struct class nof_ctrl_class;

extern const struct attribute_group *nof_ctrl_attr_groups[];
extern const struct attribute_group *nof_subsys_attr_groups[];

int nof_sysfs_init(void);
void nof_sysfs_exit(void);

#endif
