// SPDX-License-Identifier: LGPL-2.1-or-later
// For tests/lint/locks.py: who takes which mutex, who calls whom, and what is called or taken with a mutex held.

@take@
expression l;
identifier f;
position p;
@@
f(...) { <... \(mutex_lock@p(l)\|mutex_trylock@p(l)\|lock_sock@p(l)\|nof_sock_lock@p(l)\) ...> }

@script:python@
f << take.f;
l << take.l;
p << take.p;
@@
coccilib.report.print_report(p[0], f"take {f} {l}")

// Memory that may have to be waited for stands as a lock of its own, "memory": recovery needs none that is held over it

@memory@
identifier f;
identifier alloc =~ "alloc|kmemdup|kstrdup|xa_store";
identifier big =~ "^(alloc_percpu|blk_mq_alloc_tag_set|nof_limits_alloc_.*|kobject_(create_and_)?add|device_add.*)$";
position p;
@@
f(...) { <... \(alloc@p(..., GFP_KERNEL, ...)\|big@p(...)\) ...> }

@script:python@
f << memory.f;
p << memory.p;
@@
coccilib.report.print_report(p[0], f"take {f} memory")

@directly exists@
expression l;
identifier f;
identifier alloc =~ "alloc|kmemdup|kstrdup|xa_store";
identifier big =~ "^(alloc_percpu|blk_mq_alloc_tag_set|nof_limits_alloc_.*|kobject_(create_and_)?add|device_add.*)$";
position p;
@@
f(...) {
... when any
mutex_lock(l)
... when any
    when != mutex_unlock(l)
\(alloc@p(..., GFP_KERNEL, ...)\|big@p(...)\)
... when any
}

@script:python@
f << directly.f;
l << directly.l;
p << directly.p;
@@
coccilib.report.print_report(p[0], f"nested {f} memory | {l}")

// So do events: their listeners are nobody that recovery waits for

@event@
identifier f, m;
position p;
@@
f(...) { <... nof_events->m@p(...) ...> }

@script:python@
f << event.f;
p << event.p;
@@
coccilib.report.print_report(p[0], f"take {f} events")

@told exists@
expression l;
identifier f, m;
position p;
@@
f(...) {
... when any
mutex_lock(l)
... when any
    when != mutex_unlock(l)
nof_events->m@p(...)
... when any
}

@script:python@
f << told.f;
l << told.l;
p << told.p;
@@
coccilib.report.print_report(p[0], f"nested {f} events | {l}")

@call@
identifier f, g;
position p;
@@
f(...) { <... g@p(...) ...> }

@script:python@
f << call.f;
g << call.g;
p << call.p;
@@
coccilib.report.print_report(p[0], f"call {f} {g}")

@under exists@
expression l;
identifier f, g;
position p;
@@
f(...) {
... when any
mutex_lock(l)
... when any
    when != mutex_unlock(l)
g@p(...)
... when any
}

@script:python@
f << under.f;
l << under.l;
g << under.g;
p << under.p;
@@
coccilib.report.print_report(p[0], f"under {f} {g} {l}")

@nested exists@
expression l, m;
identifier f;
position p;
@@
f(...) {
... when any
mutex_lock(l)
... when any
    when != mutex_unlock(l)
\(mutex_lock@p(m)\|lock_sock@p(m)\|nof_sock_lock@p(m)\)
... when any
}

@script:python@
f << nested.f;
l << nested.l;
m << nested.m;
p << nested.p;
@@
coccilib.report.print_report(p[0], f"nested {f} {m} | {l}")

// Likewise through the tables of kmod/core/upcalls.h, whose entries locks.py knows

@through@
identifier t =~ "^nof_(mpath|paths|control)$";
identifier f, m;
position p;
@@
f(...) { <... t.m@p(...) ...> }

@script:python@
f << through.f;
t << through.t;
m << through.m;
p << through.p;
@@
coccilib.report.print_report(p[0], f"call {f} {t}.{m}")

@through_under exists@
expression l;
identifier t =~ "^nof_(mpath|paths|control)$";
identifier f, m;
position p;
@@
f(...) {
... when any
mutex_lock(l)
... when any
    when != mutex_unlock(l)
t.m@p(...)
... when any
}

@script:python@
f << through_under.f;
l << through_under.l;
t << through_under.t;
m << through_under.m;
p << through_under.p;
@@
coccilib.report.print_report(p[0], f"under {f} {t}.{m} {l}")

// Likewise through static calls: which function is called say the files that update them

@patched@
identifier f, s;
position p;
@@
f(...) { <... static_call@p(s)(...) ...> }

@script:python@
f << patched.f;
s << patched.s;
p << patched.p;
@@
coccilib.report.print_report(p[0], f"call {f} {s}")

@patched_under exists@
expression l;
identifier f, s;
position p;
@@
f(...) {
... when any
mutex_lock(l)
... when any
    when != mutex_unlock(l)
static_call@p(s)(...)
... when any
}

@script:python@
f << patched_under.f;
l << patched_under.l;
s << patched_under.s;
p << patched_under.p;
@@
coccilib.report.print_report(p[0], f"under {f} {s} {l}")

// The loop over all subsystems holds both locks in its body, see core/subsys.h

@walk@
iterator name nof_for_each_subsys;
expression s;
statement S;
identifier f;
position p;
@@
f(...) { <... nof_for_each_subsys@p(s) S ...> }

@script:python@
f << walk.f;
s << walk.s;
p << walk.p;
@@
coccilib.report.print_report(p[0], f"take {f} nof_subsystems_lock")
coccilib.report.print_report(p[0], f"take {f} {s} -> lock")

@walk_under@
iterator name nof_for_each_subsys;
expression s;
identifier f, g;
position p;
@@
f(...) { <... nof_for_each_subsys(s) { <... g@p(...) ...> } ...> }

@script:python@
f << walk_under.f;
s << walk_under.s;
g << walk_under.g;
p << walk_under.p;
@@
coccilib.report.print_report(p[0], f"under {f} {g} {s} -> lock")
