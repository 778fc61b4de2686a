// SPDX-License-Identifier: LGPL-2.1-or-later
// What readers may still look at is freed after a grace period: path sets by path_set_free() only, anything that
// was replaced or unpublished not by a plain kfree() without one.

@callback@
identifier f, r;
position at;
@@
f(struct rcu_head *r) { ... kfree@at(...); ... }

@set@
struct nof_path_set *x;
position p != callback.at;
@@
kfree@p(x)

@script:python@
p << set.p;
@@
coccilib.report.print_report(p[0], "a path set is freed by path_set_free()")

@replaced exists@
local idexpression x;
expression e, s;
position p;
@@
\(x = rcu_replace_pointer(...)\|x = rcu_dereference_protected(...)\)
... when != x = e
    when != synchronize_srcu(s)
    when != synchronize_srcu_expedited(s)
    when != synchronize_rcu()
\(kfree@p(x)\|kvfree@p(x)\|nof_selector_put@p(x)\|nof_queue_free@p(x)\)

@script:python@
p << replaced.p;
x << replaced.x;
@@
coccilib.report.print_report(p[0], f"{x} was in use by readers: no grace period before it is freed")

// No grace period is waited for inside a read section: it would never end.
@inside exists@
expression s, t, i;
position p;
@@
(
i = srcu_read_lock(s)
|
rcu_read_lock()
)
... when != srcu_read_unlock(s, i)
    when != rcu_read_unlock()
\(synchronize_rcu@p()\|synchronize_srcu@p(t)\|synchronize_srcu_expedited@p(t)\)

@script:python@
p << inside.p;
@@
coccilib.report.print_report(p[0], "waits for readers inside a read section")
