// SPDX-License-Identifier: LGPL-2.1-or-later
// A controller's state is written under state_lock only (or NEW, at birth), and read with nof_ctrl_state() elsewhere.
// Flags words are changed by the atomic bit operations only, policy values with WRITE_ONCE().

@locked exists@
struct nof_ctrl *c;
position at;
@@
\(spin_lock(&c->state_lock)\|spin_lock_irq(&c->state_lock)\|spin_lock_irqsave(&c->state_lock, ...)\)
... when any
    when != spin_unlock_irqrestore(&c->state_lock, ...)
    when != spin_unlock_irq(&c->state_lock)
    when != spin_unlock(&c->state_lock)
c->state@at

@birth@
struct nof_ctrl *c;
position at;
@@
c->state@at = NVMEOF_CTRL_NEW

@reader@
identifier f = {nof_ctrl_state};
struct nof_ctrl *c;
position at;
@@
f(...) { <... c->state@at ...> }

@unlocked@
struct nof_ctrl *c;
position p != {locked.at, birth.at, reader.at};
@@
c->state@p

@script:python@
p << unlocked.p;
@@
coccilib.report.print_report(p[0], "not under state_lock: nof_ctrl_state() or nof_ctrl_set_state()")

@flags@
struct nof_ctrl *c;
struct nof_queue *q;
struct nof_head *h;
expression v;
position p;
@@
(
c->flags@p = v
|
c->flags@p |= v
|
c->flags@p &= v
|
q->flags@p = v
|
q->flags@p |= v
|
q->flags@p &= v
|
h->flags@p = v
|
h->flags@p |= v
|
h->flags@p &= v
)

@script:python@
p << flags.p;
@@
coccilib.report.print_report(p[0], "flags are shared: set_bit(), clear_bit()")

@policy@
struct nof_subsys *s;
identifier m;
expression v;
position p;
@@
s->policy.m@p = v

@script:python@
p << policy.p;
@@
coccilib.report.print_report(p[0], "read without a lock: WRITE_ONCE()")

// Times are compared across the wrap of jiffies.
@wrap@
expression t;
position p;
@@
(
\(jiffies@p < t\|jiffies@p > t\|jiffies@p <= t\|jiffies@p >= t\)
|
\(t < jiffies@p\|t > jiffies@p\|t <= jiffies@p\|t >= jiffies@p\)
)

@script:python@
p << wrap.p;
@@
coccilib.report.print_report(p[0], "jiffies wrap: time_before(), time_after()")
