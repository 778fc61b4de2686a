// SPDX-License-Identifier: GPL-2.0-only
/* nvmeof.ko: init and exit. */
#include <linux/module.h>
#include <linux/workqueue.h>
#include "control/control.h"
#include "core/event.h"
#include "core/lifecycle.h"
#include "core/source.h"
#include "core/subsys.h"
#include "mpath/fence.h"
#include "mpath/head.h"
#include "mpath/ranges.h"
#include "mpath/selectors.h"
#include "mpath/zones.h"

#define REMOVE_MAX	128

struct workqueue_struct *nof_delete_wq;
struct workqueue_struct *nof_remove_wq;
struct workqueue_struct *nof_disk_wq;
struct workqueue_struct *nof_park_wq;
struct workqueue_struct *nof_wq;
struct workqueue_struct *nof_queue_wq;
struct workqueue_struct *nof_recovery_wq;
const struct nof_event_ops *nof_events;

static int alloc_workqueues(void)
{
	/* MEM_RECLAIM: reconnecting, or the end of a disk, is what writeback to our disks may wait for */
	nof_recovery_wq = alloc_workqueue("nvmeof-recovery", WQ_UNBOUND | WQ_MEM_RECLAIM, WQ_MAX_ACTIVE);
	nof_queue_wq = alloc_workqueue("nvmeof-queue", WQ_UNBOUND | WQ_MEM_RECLAIM, WQ_MAX_ACTIVE);
	nof_wq = alloc_workqueue("nvmeof", WQ_UNBOUND | WQ_MEM_RECLAIM, WQ_MAX_ACTIVE);
	nof_delete_wq = alloc_workqueue("nvmeof-delete", WQ_UNBOUND | WQ_MEM_RECLAIM, WQ_MAX_ACTIVE);
	/* each waits, mostly for the same grace periods */
	nof_remove_wq = alloc_workqueue("nvmeof-remove", WQ_UNBOUND | WQ_MEM_RECLAIM, REMOVE_MAX);
	nof_disk_wq = alloc_workqueue("nvmeof-disk", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	nof_park_wq = alloc_workqueue("nvmeof-park", WQ_UNBOUND | WQ_MEM_RECLAIM, WQ_MAX_ACTIVE);
	return nof_recovery_wq && nof_queue_wq && nof_wq && nof_delete_wq && nof_remove_wq && nof_disk_wq &&
	       nof_park_wq ? 0 : -ENOMEM;
}

static void destroy_workqueues(void)
{
	if (nof_park_wq)
		destroy_workqueue(nof_park_wq);
	if (nof_disk_wq)
		destroy_workqueue(nof_disk_wq);
	if (nof_remove_wq)
		destroy_workqueue(nof_remove_wq);
	if (nof_delete_wq)
		destroy_workqueue(nof_delete_wq);
	if (nof_wq)
		destroy_workqueue(nof_wq);
	if (nof_queue_wq)
		destroy_workqueue(nof_queue_wq);
	if (nof_recovery_wq)
		destroy_workqueue(nof_recovery_wq);
}

static int __init nof_init(void)
{
	int ret = alloc_workqueues();

	if (ret)
		goto destroy_workqueues;
	ret = nof_zones_init();
	if (ret)
		goto destroy_workqueues;
	ret = nof_ranges_init();
	if (ret)
		goto exit_zones;
	ret = nof_selectors_init();
	if (ret)
		goto exit_ranges;
	/* last: from here on controllers can be made */
	ret = nof_control_init();
	if (ret)
		goto exit_selectors;
	return 0;

exit_selectors:
	nof_selectors_exit();
exit_ranges:
	nof_ranges_exit();
exit_zones:
	nof_zones_exit();
destroy_workqueues:
	destroy_workqueues();
	return ret;
}

/* Transports are modules on top of this one: when this runs no controller is left, and no disk is open. */
static void __exit nof_exit(void)
{
	/* disks that outlive their controllers go first: their subsystems are devices of control/ */
	nof_heads_end_linger();
	nof_control_exit();
	nof_fence_exit();
	destroy_workqueues();
	nof_selectors_exit();
	nof_ranges_exit();
	nof_zones_exit();
	nof_subsystems_forget();
}

module_init(nof_init);
module_exit(nof_exit);
MODULE_DESCRIPTION("NVMe-over-Fabrics host: core, multipath, control");
MODULE_AUTHOR("The nvmeof authors");
MODULE_LICENSE("GPL");
MODULE_VERSION(NVMEOF_VERSION);
