/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The work queues. A work waits only for works on queues below its own in Documentation/locking.md, which has the
 * exceptions: a deletion for removals, connects and scans, a connect for the start works of its queues. None waits for
 * its own queue.
 */
#ifndef NOF_CORE_WORK_H
#define NOF_CORE_WORK_H

#include <linux/workqueue.h>

extern struct workqueue_struct *nof_delete_wq;
extern struct workqueue_struct *nof_remove_wq;	/* removal of paths and disks: waits for I/O and the two below */
extern struct workqueue_struct *nof_disk_wq;	/* partition table of a new disk: waits for I/O */
extern struct workqueue_struct *nof_park_wq;	/* submits parked bios: waits for tags and frozen queues */
extern struct workqueue_struct *nof_wq;		/* connect, reconnect, scan, events: may wait for commands */
extern struct workqueue_struct *nof_queue_wq;	/* start of one I/O queue */
extern struct workqueue_struct *nof_recovery_wq;	/* timers, and ending what other works wait for */

/* Returns 0 or -ENOMEM */
int nof_works_init(void);
void nof_works_exit(void);

#endif
