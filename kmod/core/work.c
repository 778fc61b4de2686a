// SPDX-License-Identifier: GPL-2.0-only
/* The work queues of the module. */
#include "core/work.h"

#define REMOVE_MAX	128

struct workqueue_struct *nof_delete_wq;
struct workqueue_struct *nof_remove_wq;
struct workqueue_struct *nof_disk_wq;
struct workqueue_struct *nof_park_wq;
struct workqueue_struct *nof_wq;
struct workqueue_struct *nof_queue_wq;
struct workqueue_struct *nof_recovery_wq;

int nof_works_init(void)
{
	/* WQ_MEM_RECLAIM: writeback to our disks may wait for a reconnect, or for the removal of a disk */
	nof_recovery_wq = alloc_workqueue("nvmeof-recovery", WQ_UNBOUND | WQ_MEM_RECLAIM, WQ_MAX_ACTIVE);
	nof_queue_wq = alloc_workqueue("nvmeof-queue", WQ_UNBOUND | WQ_MEM_RECLAIM, WQ_MAX_ACTIVE);
	nof_wq = alloc_workqueue("nvmeof", WQ_UNBOUND | WQ_MEM_RECLAIM, WQ_MAX_ACTIVE);
	nof_delete_wq = alloc_workqueue("nvmeof-delete", WQ_UNBOUND | WQ_MEM_RECLAIM, WQ_MAX_ACTIVE);
	/* removals run in parallel: most of the time they wait for the same grace periods */
	nof_remove_wq = alloc_workqueue("nvmeof-remove", WQ_UNBOUND | WQ_MEM_RECLAIM, REMOVE_MAX);
	nof_disk_wq = alloc_workqueue("nvmeof-disk", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	nof_park_wq = alloc_workqueue("nvmeof-park", WQ_UNBOUND | WQ_MEM_RECLAIM, WQ_MAX_ACTIVE);
	if (nof_recovery_wq && nof_queue_wq && nof_wq && nof_delete_wq && nof_remove_wq && nof_disk_wq && nof_park_wq)
		return 0;
	nof_works_exit();
	return -ENOMEM;
}

void nof_works_exit(void)
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
