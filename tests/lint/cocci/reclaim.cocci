// SPDX-License-Identifier: LGPL-2.1-or-later
// Memory may have to be got by writing to our own disks: no GFP_KERNEL on the way of an I/O or of a reconnect but
// in what sets objects up (init_hctx(), *_init(), *_add()), which runs in a noio scope or at birth; works
// on our own queues, all with WQ_MEM_RECLAIM.

@set_up@
identifier ops, f;
@@
struct blk_mq_ops ops = { .init_hctx = f, };

@made@
identifier set_up.f;
identifier alloc;
position at;
@@
f(...) { <... alloc@at(..., GFP_KERNEL, ...) ...> }

@io@
identifier f !~ "(_init|_add)$";
identifier alloc =~ "alloc|genlmsg_new|kmemdup|kstrdup|xa_store";
position p != made.at;
@@
f(...) { <... alloc@p(..., \(GFP_KERNEL\|GFP_KERNEL | ...\), ...) ...> }

@script:python@
p << io.p;
f << io.f;
@@
import re
mpath = r"mpath/(submit|complete|requeue|choose|degrade|failover_stats|fence|limits|path_set|selectors|ana)"
tcp = r"tcp/(recv|send|pdu|crc|icreq)"
core = r"core/(admin|aer|cmd|ctrl|recovery|stall_watch)"
if re.search(rf"/(wire/\w+|{mpath}|{tcp}|{core}|bad/reclaim)\.c$", p[0].file):
	coccilib.report.print_report(p[0], f"GFP_KERNEL in {f}(), which I/O or its recovery may wait for")

@queue@
expression name, flags;
position p;
@@
\(alloc_workqueue@p(name, flags, ...)\|alloc_ordered_workqueue@p(name, flags, ...)\)

@script:python@
p << queue.p;
flags << queue.flags;
@@
if "WQ_MEM_RECLAIM" not in flags:
	coccilib.report.print_report(p[0], "a work queue without WQ_MEM_RECLAIM")

@system@
position p;
@@
(
schedule_work@p(...)
|
schedule_delayed_work@p(...)
|
\(system_wq@p\|system_unbound_wq@p\|system_long_wq@p\|system_highpri_wq@p\|system_freezable_wq@p\)
|
create_workqueue@p(...)
|
create_singlethread_workqueue@p(...)
)

@script:python@
p << system.p;
@@
coccilib.report.print_report(p[0], "the system's work queues have no rescuer: use ours")
