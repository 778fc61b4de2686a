// SPDX-License-Identifier: LGPL-2.1-or-later
// What srcu_dereference() gave is used inside the section that it was read in only; the one thing that keeps an admin
// queue beyond that is ctrl->slots.users, raised before. And srcu_dereference() in a function that opens a section
// stands inside it.

@kept@
expression c;
position at;
@@
atomic_inc(&c->slots.users);
...
srcu_dereference@at(c->queues.admin, ...)

@outside exists@
local idexpression x;
expression s, i, v;
identifier m;
position p, at != kept.at;
@@
x = srcu_dereference@at(...)
... when != x = v
srcu_read_unlock(s, i);
... when != x = v
x@p->m

@script:python@
p << outside.p;
x << outside.x;
@@
coccilib.report.print_report(p[0], f"{x} is used after the section it was read in")

@passed exists@
local idexpression x;
expression s, i, v;
identifier g;
position p, at != kept.at;
@@
x = srcu_dereference@at(...)
... when != x = v
srcu_read_unlock(s, i);
... when != x = v
g@p(..., x, ...)

@script:python@
p << passed.p;
x << passed.x;
@@
coccilib.report.print_report(p[0], f"{x} is passed on after the section it was read in")

@before exists@
expression s, i;
identifier f;
position p;
@@
f(...) {
... when != srcu_read_lock(s)
srcu_dereference@p(..., s)
... when any
i = srcu_read_lock(s)
... when any
}

@script:python@
p << before.p;
@@
coccilib.report.print_report(p[0], "read before the section is entered")

// An RCU-protected pointer of ours is written with rcu_assign_pointer(), rcu_replace_pointer() or RCU_INIT_POINTER().
@plain@
struct nof_head *h;
struct nof_subsys *s;
struct nof_ctrl *c;
expression v;
position p;
@@
(
h->set@p = v
|
s->selector@p = v
|
c->map@p = v
|
c->admin@p = v
)

@script:python@
p << plain.p;
@@
coccilib.report.print_report(p[0], "an RCU pointer is written with a plain assignment")
