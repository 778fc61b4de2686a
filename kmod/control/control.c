// SPDX-License-Identifier: GPL-2.0-only
#include "control/chardev.h"
#include "control/control.h"
#include "control/events.h"
#include "control/genl.h"
#include "control/sysfs.h"
#include "core/above.h"

const struct nof_control_ops nof_control = {
	.subsys_class	= &nof_subsys_class,
	.ctrl_add	= nof_chardev_add,
	.ctrl_del	= nof_chardev_del,
};

int nof_control_init(void)
{
	int err;

	err = nof_sysfs_init();
	if (err)
		return err;
	err = nof_chardev_init();
	if (err)
		goto exit_sysfs;
	/* Through the family objects come to be, and with them events. */
	nof_events = &nof_genl_event_ops;
	err = nof_genl_init();
	if (err)
		goto exit_chardev;
	return 0;

exit_chardev:
	nof_chardev_exit();
exit_sysfs:
	nof_sysfs_exit();
	return err;
}

void nof_control_exit(void)
{
	nof_genl_exit();
	nof_chardev_exit();
	nof_sysfs_exit();
}
