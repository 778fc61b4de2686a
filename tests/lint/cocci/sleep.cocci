// SPDX-License-Identifier: LGPL-2.1-or-later
// Nothing sleeps under a spinlock, or under rcu_read_lock().

@spin exists@
expression l;
position p;
@@
\(spin_lock(l)\|spin_lock_bh(l)\|spin_lock_irq(l)\|spin_lock_irqsave(l, ...)\|write_lock_bh(l)\|read_lock_bh(l)\)
... when != spin_unlock(l)
    when != spin_unlock_bh(l)
    when != spin_unlock_irq(l)
    when != spin_unlock_irqrestore(l, ...)
    when != write_unlock_bh(l)
    when != read_unlock_bh(l)
(
mutex_lock@p(...)
|
lock_sock@p(...)
|
nof_sock_lock@p(...)
|
msleep@p(...)
|
usleep_range@p(...)
|
schedule@p()
|
cond_resched@p()
|
might_sleep@p()
|
wait_for_completion@p(...)
|
wait_for_completion_timeout@p(...)
|
wait_event@p(...)
|
wait_event_timeout@p(...)
|
flush_work@p(...)
|
flush_delayed_work@p(...)
|
flush_workqueue@p(...)
|
cancel_work_sync@p(...)
|
cancel_delayed_work_sync@p(...)
|
synchronize_rcu@p()
|
synchronize_srcu@p(...)
|
synchronize_srcu_expedited@p(...)
|
copy_from_user@p(...)
|
copy_to_user@p(...)
|
put_disk@p(...)
|
kvfree@p(...)
|
vfree@p(...)
|
nof_ctrl_put@p(...)
|
nof_subsys_put@p(...)
|
nof_head_put@p(...)
|
kobject_put@p(...)
|
put_device@p(...)
|
nof_head_publish@p(...)
|
nof_ctrl_publish@p(...)
|
nof_admin_exec@p(...)
)

@script:python@
p << spin.p;
@@
coccilib.report.print_report(p[0], "may sleep, under a spinlock")

@rcu exists@
position p;
@@
rcu_read_lock()
... when != rcu_read_unlock()
(
mutex_lock@p(...)
|
lock_sock@p(...)
|
nof_sock_lock@p(...)
|
msleep@p(...)
|
usleep_range@p(...)
|
schedule@p()
|
cond_resched@p()
|
might_sleep@p()
|
wait_for_completion@p(...)
|
wait_for_completion_timeout@p(...)
|
wait_event@p(...)
|
wait_event_timeout@p(...)
|
flush_work@p(...)
|
flush_delayed_work@p(...)
|
flush_workqueue@p(...)
|
cancel_work_sync@p(...)
|
cancel_delayed_work_sync@p(...)
|
synchronize_rcu@p()
|
synchronize_srcu@p(...)
|
synchronize_srcu_expedited@p(...)
|
copy_from_user@p(...)
|
copy_to_user@p(...)
|
put_disk@p(...)
|
kvfree@p(...)
|
vfree@p(...)
|
nof_ctrl_put@p(...)
|
nof_subsys_put@p(...)
|
nof_head_put@p(...)
|
kobject_put@p(...)
|
put_device@p(...)
|
nof_head_publish@p(...)
|
nof_ctrl_publish@p(...)
|
nof_admin_exec@p(...)
)

@script:python@
p << rcu.p;
@@
coccilib.report.print_report(p[0], "may sleep, under rcu_read_lock()")

@allocation exists@
expression l;
identifier alloc =~ "alloc|genlmsg_new";
position p;
@@
\(spin_lock(l)\|spin_lock_bh(l)\|spin_lock_irq(l)\|spin_lock_irqsave(l, ...)\)
... when != spin_unlock(l)
    when != spin_unlock_bh(l)
    when != spin_unlock_irq(l)
    when != spin_unlock_irqrestore(l, ...)
alloc@p(..., \(GFP_KERNEL\|GFP_NOIO\|GFP_NOFS\|GFP_KERNEL | ...\|GFP_NOIO | ...\), ...)

@script:python@
p << allocation.p;
@@
coccilib.report.print_report(p[0], "waits for memory under a spinlock")

@rcu_allocation exists@
identifier alloc =~ "alloc|genlmsg_new";
position p;
@@
rcu_read_lock()
... when != rcu_read_unlock()
alloc@p(..., \(GFP_KERNEL\|GFP_NOIO\|GFP_NOFS\|GFP_KERNEL | ...\|GFP_NOIO | ...\), ...)

@script:python@
p << rcu_allocation.p;
@@
coccilib.report.print_report(p[0], "waits for memory under rcu_read_lock()")
