// SPDX-License-Identifier: LGPL-2.1-or-later
// Every function definition that was understood.

@definition@
identifier f;
position p;
@@
f@p(...) { ... }

@script:python@
p << definition.p;
f << definition.f;
@@
coccilib.report.print_report(p[0], f)
