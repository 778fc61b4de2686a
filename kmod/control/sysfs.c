// SPDX-License-Identifier: GPL-2.0-only
/* The classes. The attributes belong to them, so that they are there before udev hears of a device. */
#include "control/control.h"
#include "control/sysfs.h"

nof_class_const struct class nof_subsys_class = {
	.name		= "nvmeof-subsystem",
	.dev_groups	= nof_subsys_attr_groups,
};

nof_class_const struct class nof_ctrl_class = {
	.name		= "nvmeof",
	.dev_groups	= nof_ctrl_attr_groups,
};

int nof_sysfs_init(void)
{
	int err;

	err = class_register(&nof_subsys_class);
	if (err)
		return err;
	err = class_register(&nof_ctrl_class);
	if (err)
		class_unregister(&nof_subsys_class);
	return err;
}

void nof_sysfs_exit(void)
{
	class_unregister(&nof_ctrl_class);
	class_unregister(&nof_subsys_class);
}
