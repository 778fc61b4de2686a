// SPDX-License-Identifier: LGPL-2.1-or-later
// A timer that something shared by many hosts can start (a target lost, an event) has jitter: of the works below, none
// is queued with a delay that has no random part. At once is no timer.

@random@
identifier h;
@@
h(...) { <+... \(get_random_u32()\|get_random_u32_below(...)\) ...+> }

@direct@
expression wq, w;
position at;
@@
\(queue_delayed_work@at\|mod_delayed_work@at\)(wq, w,
	<+... \(get_random_u32()\|get_random_u32_below(...)\) ...+>)

@called@
identifier random.h;
expression wq, w;
position at;
@@
\(queue_delayed_work@at\|mod_delayed_work@at\)(wq, w, <+... h(...) ...+>)

@variable exists@
idexpression v;
expression wq, w, e;
position at;
@@
v = <+... \(get_random_u32()\|get_random_u32_below(...)\) ...+>;
... when != v = e
\(queue_delayed_work@at\|mod_delayed_work@at\)(wq, w, <+... v ...+>)

@declared exists@
identifier v;
type T;
expression wq, w, e;
position at;
@@
T v = <+... \(get_random_u32()\|get_random_u32_below(...)\) ...+>;
... when != v = e
\(queue_delayed_work@at\|mod_delayed_work@at\)(wq, w, <+... v ...+>)

@at_once@
expression wq, w;
position at;
@@
\(queue_delayed_work@at\|mod_delayed_work@at\)(wq, w, 0)

@together@
expression wq, e;
identifier m = {recovery, scan, ka, ana, aen};
identifier w = {work, reconnect_work, anatt_work, arm_work};
position p != {direct.at, called.at, variable.at, declared.at, at_once.at};
@@
\(queue_delayed_work@p\|mod_delayed_work@p\)(wq, &e->m.w, ...)

@script:python@
p << together.p;
m << together.m;
w << together.w;
@@
coccilib.report.print_report(p[0], f"{m}.{w} has no jitter: many hosts would come at once")

// Back-off has a random part too.
@backoff@
position p;
expression a, b;
identifier r !~ "^(random|get_random_u32)$";
@@
nof_backoff_ms@p(a, b, \(r\|r(...)\))

@script:python@
p << backoff.p;
@@
coccilib.report.print_report(p[0], "back-off without get_random_u32()")
