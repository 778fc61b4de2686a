// SPDX-License-Identifier: LGPL-2.1-or-later
// What an allocation gave is checked before it is used, and its size cannot overflow.

@nofail@
identifier alloc;
expression flags;
position at;
@@
alloc@at(..., flags | __GFP_NOFAIL)

@unchecked exists@
expression x;
identifier m;
identifier alloc =~ "^(kv?[mzc]alloc(_node|_array)?|kmemdup|(genl|nl)msg_new|alloc_p.*)$";
position p, at != nofail.at;
@@
x = alloc@at(...)
... when != x
x@p->m

@script:python@
p << unchecked.p;
x << unchecked.x;
@@
coccilib.report.print_report(p[0], f"{x} may be NULL")

@passed exists@
expression x;
identifier g =~ "^(memcpy|memset|strscpy|memmove|copy_from_user|nof_identify|nof_get_log|genlmsg_put.*|nla_put.*)$";
identifier alloc =~ "^(kv?[mzc]alloc(_node|_array)?|genlmsg_new|nlmsg_new|alloc_pages_exact)$";
position p, at != nofail.at;
@@
x = alloc@at(...)
... when != x
g@p(..., x, ...)

@script:python@
p << passed.p;
x << passed.x;
@@
coccilib.report.print_report(p[0], f"{x} may be NULL")

@product@
expression a, b;
constant c, d;
identifier alloc =~ "^kv?[mz]alloc(_node)?$";
position p;
@@
(
alloc(c * d, ...)
|
alloc@p(<+... a * b ...+>, ...)
)

@script:python@
p << product.p;
@@
coccilib.report.print_report(p[0], "a product may overflow: kcalloc(), array_size() or struct_size()")

// IS_ERR() detects an ERR_PTR, a comparison with NULL does not.
@never_null exists@
expression x;
identifier make =~ "^(genl_ctrl_find|nof_(.*_create|subsys_join)|(nof_limits|blk_mq)_alloc_(disk|queue|req.*))$";
position p;
@@
x = make(...)
... when != x
\(!x@p\|x@p == NULL\|x@p != NULL\)

@script:python@
p << never_null.p;
x << never_null.x;
@@
coccilib.report.print_report(p[0], f"{x} is an ERR_PTR on failure, never NULL")

@never_error exists@
expression x;
identifier make =~ "^(nof_(ctrl|subsys|head|path)_find|nof_(transport|selector)_get|kv?[mzc]alloc.*|alloc_.*)$";
position p;
@@
x = make(...)
... when != x
\(IS_ERR@p(x)\|PTR_ERR@p(x)\)

@script:python@
p << never_error.p;
x << never_error.x;
@@
coccilib.report.print_report(p[0], f"{x} is NULL on failure, never an ERR_PTR")

@other exists@
expression x, y;
position p;
@@
if (IS_ERR(x)) { ... when != IS_ERR(y)
 PTR_ERR@p(y)
 ... }

@script:python@
p << other.p;
x << other.x;
y << other.y;
@@
if x != y:
	coccilib.report.print_report(p[0], f"{x} was asked, PTR_ERR({y}) taken")
