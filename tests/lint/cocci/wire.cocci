// SPDX-License-Identifier: LGPL-2.1-or-later
// A number from the wire is compared with something before it sizes an allocation, a copy or a log page, or is an
// index.

@size exists@
local idexpression n;
expression e, b;
identifier le =~ "^le(16|32|64)_to_cpup?$|^get_unaligned_le(16|32|64)$";
identifier use =~ "alloc|^memcpy$|^memmove$|^nof_get_log$|^memset$|^memcmp$|copy";
position p;
@@
n = le(...)
... when != \(n < b\|n > b\|n <= b\|n >= b\|n == b\|n != b\|!n\)
    when != \(min(n, b)\|min(b, n)\|min3(..., n, ...)\|clamp(n, ...)\)
    when != n = e
use@p(..., <+... n ...+>, ...)

@script:python@
p << size.p;
n << size.n;
use << size.use;
@@
coccilib.report.print_report(p[0], f"{use}() of {n} bytes, a number from the wire that nothing bounds")

@direct@
expression e;
identifier le =~ "^le(16|32|64)_to_cpup?$|^get_unaligned_le(16|32|64)$";
identifier use =~ "alloc|^memcpy$|^memmove$|^memset$|^memcmp$";
position p;
@@
use@p(..., <+... le(e) ...+>, ...)

@script:python@
p << direct.p;
use << direct.use;
@@
coccilib.report.print_report(p[0], f"{use}() of a size straight from the wire")

@asked@
expression n, b, array, e;
position at;
@@
\(n < b\|n <= b\|n != b\) ? array@at[n] : e

@index exists@
local idexpression n;
expression e, b, array;
identifier le =~ "^le(16|32|64)_to_cpup?$|^get_unaligned_le(16|32|64)$";
position p != asked.at;
@@
n = le(...)
... when != \(n < b\|n > b\|n <= b\|n >= b\|n == b\|n != b\|!n\)
    when != \(min(n, b)\|min(b, n)\|clamp(n, ...)\)
    when != n = e
    when != n &= e
array@p[\(n\|n + e\|n - e\)]

@script:python@
p << index.p;
n << index.n;
@@
coccilib.report.print_report(p[0], f"{n} from the wire is an index that nothing bounds")

@shift exists@
local idexpression n;
expression e, b, v;
identifier le =~ "^le(16|32|64)_to_cpup?$";
position p;
@@
n = le(...)
... when != \(n < b\|n > b\|n <= b\|n >= b\|n == b\|n != b\)
    when != n = e
v <<@p n

@script:python@
p << shift.p;
n << shift.n;
@@
coccilib.report.print_report(p[0], f"shifted by {n} from the wire, which nothing bounds")

// Sizes from the wire are not in host order until le*_to_cpu() has been at them: a swap is not compared either.
@compared@
identifier f =~ "^cpu_to_le(16|32|64)$";
expression a, b;
position p;
@@
\(f@p(a) < b\|f@p(a) > b\|f@p(a) <= b\|f@p(a) >= b\|b < f@p(a)\|b > f@p(a)\|b <= f@p(a)\|b >= f@p(a)\)

@script:python@
p << compared.p;
@@
coccilib.report.print_report(p[0], "little endian numbers have no order: compare in host order")
