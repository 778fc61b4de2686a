// SPDX-License-Identifier: LGPL-2.1-or-later
// Lists: an entry taken off while the list is walked ends the walk or asks for the _safe form; the cursor means nothing
// behind the loop; a list read under RCU is walked with the _rcu form; nof_for_each_path(), two loops in one, is not
// left by break.

@removed exists@
identifier x, m;
expression l;
iterator name list_for_each_entry;
position p;
@@
list_for_each_entry(x, l, m) {
... when any
\(list_del@p(&x->m)\|list_del_init@p(&x->m)\|list_move@p(&x->m, ...)\|list_move_tail@p(&x->m, ...)\|kfree@p(x)\)
... when != break;
    when != return ...;
}

@script:python@
p << removed.p;
x << removed.x;
@@
coccilib.report.print_report(p[0], f"{x} is off the list, and the walk goes on from it")

@behind exists@
identifier x, m;
expression l, e;
statement S, T;
iterator name list_for_each_entry, list_for_each_entry_safe;
iterator again;
identifier f;
position p;
@@
list_for_each_entry(x, l, ...) S
... when != x = e
(
again(x, ...) T
|
x@p->m
)

@script:python@
p << behind.p;
x << behind.x;
@@
coccilib.report.print_report(p[0], f"behind the loop {x} may be the head of the list, not an entry")

@reader exists@
position p;
iterator name list_for_each_entry;
statement S;
@@
rcu_read_lock()
... when != rcu_read_unlock()
list_for_each_entry@p(...) S

@script:python@
p << reader.p;
@@
coccilib.report.print_report(p[0], "walked under rcu_read_lock(): list_for_each_entry_rcu()")

@srcu_reader exists@
position p;
expression s, i;
iterator name list_for_each_entry;
statement S;
@@
i = srcu_read_lock(s)
... when != srcu_read_unlock(s, i)
list_for_each_entry@p(...) S

@script:python@
p << srcu_reader.p;
@@
coccilib.report.print_report(p[0], "walked under srcu_read_lock(): list_for_each_entry_srcu()")

@left@
iterator name nof_for_each_path;
expression s, h, x;
position p;
@@
nof_for_each_path@p(s, h, x) { <+... break; ...+> }

@script:python@
p << left.p;
@@
coccilib.report.print_report(p[0], "leaves the inner one of two loops")
