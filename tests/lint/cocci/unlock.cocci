// SPDX-License-Identifier: LGPL-2.1-or-later
// A lock is let go on every way out of the function that took it, unless the function says in its name that it is kept.

@kept exists@
expression l;
position p;
identifier f !~ "_(begin|lock)$";
@@
f(...) {
... when any
(
mutex_lock@p(l);
|
spin_lock@p(l);
|
spin_lock_bh@p(l);
|
spin_lock_irq@p(l);
|
spin_lock_irqsave@p(l, ...);
|
read_lock_bh@p(l);
|
write_lock_bh@p(l);
|
lock_sock@p(l);
|
down_read@p(l);
|
down_write@p(l);
)
... when != mutex_unlock(l)
    when != spin_unlock(l)
    when != spin_unlock_bh(l)
    when != spin_unlock_irq(l)
    when != spin_unlock_irqrestore(l, ...)
    when != read_unlock_bh(l)
    when != write_unlock_bh(l)
    when != release_sock(l)
    when != up_read(l)
    when != up_write(l)
}

@script:python@
p << kept.p;
l << kept.l;
@@
coccilib.report.print_report(p[0], f"{l} is still held on a way out of this function")

@tried exists@
expression l;
position p;
statement S;
identifier f;
@@
f(...) {
... when any
if (!mutex_trylock@p(l)) S
... when != mutex_unlock(l)
}

@script:python@
p << tried.p;
l << tried.l;
@@
coccilib.report.print_report(p[0], f"{l} is still held on a way out of this function")

@section exists@
position p;
identifier f !~ "_(begin|lock)$";
@@
f(...) {
... when any
rcu_read_lock@p();
... when != rcu_read_unlock()
}

@script:python@
p << section.p;
@@
coccilib.report.print_report(p[0], "rcu_read_lock() without rcu_read_unlock() on a way out of this function")

@srcu exists@
expression s, i;
position p;
identifier f !~ "_(begin|lock)$";
@@
f(...) {
... when any
i = srcu_read_lock@p(s)
... when != srcu_read_unlock(s, i)
}

@script:python@
p << srcu.p;
s << srcu.s;
@@
coccilib.report.print_report(p[0], f"srcu_read_lock({s}) without its unlock on a way out of this function")

@scope exists@
expression i;
position p;
identifier f;
@@
f(...) {
... when any
i = \(memalloc_noio_save@p\|memalloc_noreclaim_save@p\|memalloc_nofs_save@p\)()
... when != memalloc_noio_restore(i)
    when != memalloc_noreclaim_restore(i)
    when != memalloc_nofs_restore(i)
}

@script:python@
p << scope.p;
@@
coccilib.report.print_report(p[0], "the allocation scope is not ended on a way out of this function")
