/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The work queues. A work waits for works of the queues below its own only: a deletion for removals, connects and
 * scans, a connect for its queues' start works. The exceptions are in Documentation/locking.md; none waits for itself.
 */
#ifndef NOF_CORE_WORK_H
#define NOF_CORE_WORK_H

#include <linux/workqueue.h>

extern struct workqueue_struct *nof_delete_wq;
extern struct workqueue_struct *nof_remove_wq;	/* the end of paths and their disks: waits for I/O, and the next one */
extern struct workqueue_struct *nof_disk_wq;	/* waits for I/O */
extern struct workqueue_struct *nof_park_wq;	/* waits for tags, and for queues that are frozen */
extern struct workqueue_struct *nof_wq;		/* connect, reconnect, scan, events: may wait for commands */
extern struct workqueue_struct *nof_queue_wq;	/* start of one queue */
extern struct workqueue_struct *nof_recovery_wq;	/* ends what the others wait for, and keeps time */

/* 0 or -ENOMEM */
int nof_works_init(void);
void nof_works_exit(void);

#endif
