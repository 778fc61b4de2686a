// SPDX-License-Identifier: LGPL-2.1-or-later
// What crosses the border to user space: results are looked at, nothing is read twice, and nothing goes out that was
// not filled in.

@unchecked@
position p;
@@
\(copy_from_user@p(...);\|copy_to_user@p(...);\|get_user@p(...);\|put_user@p(...);\|clear_user@p(...);\|
__copy_from_user@p(...);\|__copy_to_user@p(...);\)

@script:python@
p << unchecked.p;
@@
coccilib.report.print_report(p[0], "the result of a copy from or to userspace is not checked")

@negative@
expression ret;
position p;
@@
(
return copy_from_user@p(...);
|
return copy_to_user@p(...);
|
ret = copy_from_user@p(...);
|
ret = copy_to_user@p(...);
)

@script:python@
p << negative.p;
@@
coccilib.report.print_report(p[0], "the number of bytes left is no error number")

@twice exists@
expression src, a, b, n, m;
position p;
@@
\(copy_from_user(a, src, n)\|get_user(a, src)\)
... when != src = b
\(copy_from_user@p(b, src, m)\|get_user@p(b, src)\)

@script:python@
p << twice.p;
@@
coccilib.report.print_report(p[0], "read from user space a second time: it may have changed")

@filled exists@
identifier x;
type T;
position p;
expression to, e;
identifier f;
@@
f(...) {
... when any
T x;
... when != memset(&x, ...)
    when != x = e
    when != copy_from_user(&x, ...)
copy_to_user@p(to, &x, ...)
... when any
}

@script:python@
p << filled.p;
x << filled.x;
@@
coccilib.report.print_report(p[0], f"padding of {x} goes out unset: memset() it, or = {{}}")

// The first attribute of a new buffer always fits.
@first@
expression skb;
identifier put =~ "^nla_put|^genlmsg_put";
position at;
@@
skb = genlmsg_new(...)
<...
put@at(skb, ...)
...>

@ignored@
identifier put =~ "^nla_put";
position p != first.at;
@@
put@p(...);

@script:python@
p << ignored.p;
@@
coccilib.report.print_report(p[0], "an attribute that does not fit is not noticed")

@header exists@
expression x, skb;
position p != first.at;
@@
x = genlmsg_put@p(...)
... when != x
(
genlmsg_end(skb, x)
|
nla_put(...)
|
nla_put_u32(...)
|
nla_put_string(...)
)

@script:python@
p << header.p;
@@
coccilib.report.print_report(p[0], "a header that does not fit is not noticed")

// A netlink command that is not a GET needs GENL_ADMIN_PERM.
@flagged@
identifier d;
position at;
@@
{ .flags = GENL_ADMIN_PERM, .doit = d@at, }

@open_to_all@
identifier d !~ "_get$";
position p != flagged.at;
@@
{ .doit = d@p, }

@script:python@
p << open_to_all.p;
d << open_to_all.d;
@@
coccilib.report.print_report(p[0], f"{d}() is open to everybody: no GENL_ADMIN_PERM")
