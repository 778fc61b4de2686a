// SPDX-License-Identifier: LGPL-2.1-or-later
// Every work of an object is waited for before the object goes (cancel_*_sync(), flush_*()), but the one that frees the
// object itself. And none waits for itself, or for a work that waits for it.

@initialize:python@
@@
works, ended, sites, frees = {}, set(), [], set()

@init@
expression e;
identifier w, f;
position p;
@@
(
INIT_WORK@p(&e->w, f)
|
INIT_DELAYED_WORK@p(&e->w, f)
)

@script:python@
p << init.p;
w << init.w;
f << init.f;
@@
works[(f, w)] = p[0]

@nested@
expression e;
identifier m, w, f;
position p;
@@
(
INIT_WORK@p(&e->m.w, f)
|
INIT_DELAYED_WORK@p(&e->m.w, f)
)

@script:python@
p << nested.p;
m << nested.m;
w << nested.w;
f << nested.f;
@@
works[(f, f"{m}.{w}")] = p[0]

@end@
expression e;
identifier w;
@@
\(cancel_work_sync\|cancel_delayed_work_sync\|flush_work\|flush_delayed_work\)(\(&e->w\|&e.w\))

@script:python@
w << end.w;
@@
ended.add(w)

@end_nested@
expression e;
identifier m, w;
@@
\(cancel_work_sync\|cancel_delayed_work_sync\|flush_work\|flush_delayed_work\)(\(&e->m.w\|&e.m.w\))

@script:python@
m << end_nested.m;
w << end_nested.w;
@@
ended.add(f"{m}.{w}")

@last@
identifier f, x, g =~ "^(nof_ctrl_put|free_fence|kfree)$";
@@
f(struct work_struct *x) { <+... g(...) ...+> }

@script:python@
f << last.f;
@@
frees.add(f)

// In a work's own function
@itself@
identifier f, x, w;
expression e;
position p;
@@
f(struct work_struct *x) {
<...
\(cancel_work_sync@p\|cancel_delayed_work_sync@p\|flush_work@p\|flush_delayed_work@p\)(&e->w)
...>
}

@script:python@
f << itself.f;
w << itself.w;
p << itself.p;
@@
sites.append((f, w, p[0]))

@itself_nested@
identifier f, x, m, w;
expression e;
position p;
@@
f(struct work_struct *x) {
<...
\(cancel_work_sync@p\|cancel_delayed_work_sync@p\|flush_work@p\|flush_delayed_work@p\)(&e->m.w)
...>
}

@script:python@
f << itself_nested.f;
m << itself_nested.m;
w << itself_nested.w;
p << itself_nested.p;
@@
sites.append((f, f"{m}.{w}", p[0]))

@finalize:python@
@@
for (f, w), at in works.items():
	if w not in ended and f not in frees:
		coccilib.report.print_report(at, f"{w} is not cancelled or flushed before its object is freed")
for f, w, at in sites:
	if (f, w) in works:
		coccilib.report.print_report(at, f"{f}() waits for itself")
