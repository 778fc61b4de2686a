// SPDX-License-Identifier: LGPL-2.1-or-later
// A lock is taken once, let go once, in the flavour it was taken in. Spinlocks are leaves: never one inside another
// (Documentation/locking.md).

@twice exists@
expression l;
position p;
@@
\(mutex_lock(l)\|lock_sock(l)\)
... when != mutex_unlock(l)
    when != release_sock(l)
\(mutex_lock@p(l)\|lock_sock@p(l)\)

@script:python@
p << twice.p;
l << twice.l;
@@
coccilib.report.print_report(p[0], f"{l} is held already")

@again exists@
expression l;
position p;
@@
mutex_unlock(l)
... when != mutex_lock(l)
    when != mutex_trylock(l)
mutex_unlock@p(l)

@script:python@
p << again.p;
l << again.l;
@@
coccilib.report.print_report(p[0], f"{l} was let go already")

@spin_again exists@
expression l;
position p;
@@
\(spin_unlock_irq(l)\|spin_unlock_irqrestore(l, ...)\|spin_unlock(l)\)
... when != spin_lock(l)
    when != spin_lock_irq(l)
    when != spin_lock_irqsave(l, ...)
\(spin_unlock_irq@p(l)\|spin_unlock_irqrestore@p(l, ...)\|spin_unlock@p(l)\)

@script:python@
p << spin_again.p;
l << spin_again.l;
@@
coccilib.report.print_report(p[0], f"{l} was let go already")

@nested exists@
expression a, b;
position p;
@@
\(spin_lock(a)\|spin_lock_bh(a)\|spin_lock_irq(a)\|spin_lock_irqsave(a, ...)\)
... when != spin_unlock(a)
    when != spin_unlock_bh(a)
    when != spin_unlock_irq(a)
    when != spin_unlock_irqrestore(a, ...)
\(spin_lock@p(b)\|spin_lock_bh@p(b)\|spin_lock_irq@p(b)\|spin_lock_irqsave@p(b, ...)\)

@script:python@
p << nested.p;
a << nested.a;
b << nested.b;
@@
coccilib.report.print_report(p[0], f"{b} is taken while the spinlock {a} is held")

@saved exists@
expression l;
position p;
@@
spin_lock_irqsave(l, ...)
... when != spin_unlock_irqrestore(l, ...)
\(spin_unlock@p(l)\|spin_unlock_irq@p(l)\|spin_unlock_bh@p(l)\)

@script:python@
p << saved.p;
@@
coccilib.report.print_report(p[0], "taken with spin_lock_irqsave(): the flags are not restored")

@plain exists@
expression l;
position p;
@@
\(spin_lock_irq(l)\|spin_lock(l)\)
... when != spin_unlock(l)
    when != spin_unlock_irq(l)
spin_unlock_irqrestore@p(l, ...)

@script:python@
p << plain.p;
@@
coccilib.report.print_report(p[0], "no flags were saved when it was taken")

@index exists@
expression s, i, j;
position p;
@@
i = srcu_read_lock(s)
... when != srcu_read_unlock(s, i)
srcu_read_unlock@p(s, j)

@script:python@
p << index.p;
i << index.i;
j << index.j;
@@
if i != j:
	coccilib.report.print_report(p[0], "not the index that srcu_read_lock() returned")
