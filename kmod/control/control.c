// SPDX-License-Identifier: GPL-2.0-only
#include "control/control.h"
#include "control/genl.h"
#include "core/above.h"

/* The attributes belong to the classes, so that they are there before udev hears of a device. */
nof_class_const struct class nof_subsys_class = {
	.name		= "nvmeof-subsystem",
	.dev_groups	= nof_subsys_attr_groups,
};

nof_class_const struct class nof_ctrl_class = {
	.name		= "nvmeof",
	.dev_groups	= nof_ctrl_attr_groups,
	.dev_uevent	= nof_ctrl_uevent,
};

nof_class_const struct class nof_generic_class = {
	.name		= "nvmeof-generic",
};

const struct nof_control_ops nof_control = {
	.subsys_class	= &nof_subsys_class,
	.ctrl_add	= nof_chardev_add,
	.ctrl_del	= nof_chardev_del,
	.ctrl_release	= nof_chardev_release,
};

int nof_control_init(void)
{
	int err;

	err = class_register(&nof_subsys_class);
	if (err)
		return err;
	err = class_register(&nof_ctrl_class);
	if (err)
		goto exit_subsys_class;
	err = class_register(&nof_generic_class);
	if (err)
		goto exit_ctrl_class;
	err = nof_chardev_init();
	if (err)
		goto exit_generic_class;
	err = nof_generic_init();
	if (err)
		goto exit_chardev;
	/* Through the family objects come to be, and with them events. */
	nof_events = &nof_genl_event_ops;
	err = nof_genl_init();
	if (err)
		goto exit_generic;
	return 0;

exit_generic:
	nof_generic_exit();
exit_chardev:
	nof_chardev_exit();
exit_generic_class:
	class_unregister(&nof_generic_class);
exit_ctrl_class:
	class_unregister(&nof_ctrl_class);
exit_subsys_class:
	class_unregister(&nof_subsys_class);
	return err;
}

void nof_control_exit(void)
{
	nof_genl_exit();
	nof_generic_exit();
	nof_chardev_exit();
	class_unregister(&nof_generic_class);
	class_unregister(&nof_ctrl_class);
	class_unregister(&nof_subsys_class);
}
