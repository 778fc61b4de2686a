// SPDX-License-Identifier: GPL-2.0-only
/* nvmeof.ko: init and exit. */
#include <linux/module.h>
#include "control/control.h"
#include "control/genl.h"
#include "core/auth.h"
#include "core/source.h"
#include "core/subsys.h"
#include "core/upcalls.h"
#include "core/work.h"
#include "mpath/discard_ranges.h"
#include "mpath/fence.h"
#include "mpath/head.h"
#include "mpath/subsys.h"
#include "mpath/zones.h"

static int __init control_init(void)
{
	int err;

	err = class_register(&nof_subsys_class);
	if (err)
		return err;
	err = nof_nodes_init();
	if (err)
		goto exit_subsys_class;
	/* before the family is registered: netlink requests create objects, which send events */
	nof_events = &nof_genl_event_ops;
	err = nof_genl_init();
	if (err)
		goto exit_nodes;
	return 0;

exit_nodes:
	nof_nodes_exit();
exit_subsys_class:
	class_unregister(&nof_subsys_class);
	return err;
}

static void control_exit(void)
{
	nof_genl_exit();
	nof_nodes_exit();
	class_unregister(&nof_subsys_class);
}

static int __init nof_init(void)
{
	int ret = nof_works_init();

	if (ret)
		return ret;
	ret = nof_zones_init();
	if (ret)
		goto exit_works;
	ret = nof_ranges_init();
	if (ret)
		goto exit_zones;
	ret = nof_selectors_init();
	if (ret)
		goto exit_ranges;
	nof_mpath_init();
	nof_auth_load();
	/* last: from here on controllers can be created */
	ret = control_init();
	if (ret)
		goto exit_selectors;
	return 0;

exit_selectors:
	nof_selectors_exit();
exit_ranges:
	nof_ranges_exit();
exit_zones:
	nof_zones_exit();
exit_works:
	nof_works_exit();
	return ret;
}

/* Transport modules depend on this one: when this runs, no controller is left and no disk is open. */
static void __exit nof_exit(void)
{
	/* lingering disks first: control_exit() unregisters the class of their subsystems */
	nof_heads_end_linger();
	control_exit();
	nof_subsystems_wait();
	nof_fence_exit();
	nof_works_exit();
	nof_selectors_exit();
	nof_ranges_exit();
	nof_zones_exit();
	nof_subsystems_exit();
}

module_init(nof_init);
module_exit(nof_exit);
MODULE_DESCRIPTION("NVMe-over-Fabrics host: core, multipath, control");
MODULE_AUTHOR("The nvmeof authors");
MODULE_LICENSE("GPL");
/* authentication looks for its algorithms once, in nof_auth_load(): an initramfs gets them, too */
MODULE_SOFTDEP("pre: dh_generic hmac sha256 sha384 sha512");
MODULE_VERSION(NVMEOF_VERSION);
