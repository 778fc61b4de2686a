// SPDX-License-Identifier: LGPL-2.1-or-later
// Nothing that waits for the network, for I/O, for a work or for SRCU readers happens under subsys->lock or
// nof_subsystems_lock (Documentation/locking.md).

@taken@
struct nof_subsys *s;
expression e;
position at;
@@
mutex_lock@at(\(&s->lock\|&e->subsys->lock\|&nof_subsystems_lock\))

@held exists@
expression l, e;
position taken.at;
position p;
@@
mutex_lock@at(l)
... when != mutex_unlock(l)
(
synchronize_rcu@p()
|
synchronize_srcu@p(...)
|
synchronize_srcu_expedited@p(...)
|
rcu_barrier@p()
|
srcu_barrier@p(...)
|
flush_work@p(...)
|
flush_delayed_work@p(...)
|
flush_workqueue@p(...)
|
destroy_workqueue@p(...)
|
cancel_work_sync@p(...)
|
cancel_delayed_work_sync@p(...)
|
wait_event@p(...)
|
wait_event_timeout@p(...)
|
wait_for_completion@p(...)
|
wait_for_completion_killable@p(...)
|
wait_for_completion_timeout@p(...)
|
msleep@p(...)
|
usleep_range@p(...)
|
blk_mq_freeze_queue@p(...)
|
blk_mq_quiesce_queue@p(...)
|
del_gendisk@p(...)
|
put_disk@p(...)
|
device_add_disk@p(...)
|
device_del@p(...)
|
kobject_del@p(...)
|
mutex_lock@p(&e->queues.stop_lock)
|
mutex_lock@p(&e->scan.lock)
|
mutex_lock@p(&e->ana.lock)
|
mutex_lock@p(&e->change.lock)
|
nof_admin_exec@p(...)
|
nof_queue_exec@p(...)
|
nof_identify@p(...)
|
nof_get_log@p(...)
|
nof_set_features@p(...)
|
nof_property_get@p(...)
|
nof_property_set@p(...)
|
nof_queues_cancel@p(...)
|
nof_queues_free@p(...)
|
nof_head_remove@p(...)
|
nof_head_add@p(...)
|
nof_head_drop@p(...)
|
nof_path_remove@p(...)
|
paths_remove@p(...)
|
nof_paths.remove@p(...)
|
nof_mpath.read_ana@p(...)
|
scan_namespaces@p(...)
|
nof_ctrl_delete@p(...)
|
request_module@p(...)
)

@script:python@
p << held.p;
@@
coccilib.report.print_report(p[0], "waits, under subsys->lock or nof_subsystems_lock")
