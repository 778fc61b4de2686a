// SPDX-License-Identifier: LGPL-2.1-or-later
// The end of a bio is somebody else's code. Requests that are done are collected (struct nof_completed), and end where
// no lock is held, no SRCU section and no RCU section. So do requests taken off a queue, which waits for its socket or
// device. Code that touches a disk or its head after a request went back to blk-mq holds the queue beforehand.

@direct@
identifier f != {nof_request_end,requests_end_batch,end_uncounted,nof_park_fail,nof_parked_end_io};
position p;
@@
f(...) {
<+...
\(blk_mq_end_request@p(...)\|blk_mq_end_request_batch@p(...)\|bio_endio@p(...)\)
...+>
}

@script:python@
p << direct.p;
@@
coccilib.report.print_report(p[0], "ends a request or bio here and now: collect it")

@held exists@
expression l, f, i;
position p;
@@
(
mutex_lock(l);
|
spin_lock(l);
|
spin_lock_bh(l);
|
spin_lock_irq(l);
|
spin_lock_irqsave(l, f);
|
i = srcu_read_lock(l);
|
rcu_read_lock();
)
... when != mutex_unlock(...)
    when != spin_unlock(...)
    when != spin_unlock_bh(...)
    when != spin_unlock_irq(...)
    when != spin_unlock_irqrestore(...)
    when != srcu_read_unlock(...)
    when != rcu_read_unlock()
\(nof_completed_end@p(...)\|nof_requests_finish@p(...)\|nof_park_fail@p(...)\|nof_queue_detach@p(...)\)

@script:python@
p << held.p;
@@
coccilib.report.print_report(p[0], "called with a lock held")

@kept@
position at;
@@
nof_request_queue_get(...)
...
\(blk_mq_requeue_request@at(...)\|nof_request_put_back@at(...)\)

@requeued exists@
position at != kept.at;
position p;
@@
\(blk_mq_requeue_request@at(...)\|nof_request_put_back@at(...)\)
...
\(blk_mq_kick_requeue_list@p(...)\|nof_head_kick_later@p(...)\)

@script:python@
p << requeued.p;
@@
coccilib.report.print_report(p[0], "the request may have ended, and its disk be gone: keep its queue before")
