// SPDX-License-Identifier: LGPL-2.1-or-later
// Who gets a reference (nof_*_find(), _get() or _pin(), kref_get() of a head, get_device() of a disk) gives it back on
// every way out, or stores or returns the object, or hands it to one of those that take it over (selector_change(),
// ask()).

@ctrl exists@
local idexpression struct nof_ctrl * x;
expression e;
statement S;
position p;
identifier f;
identifier g =~ "^(nof_ctrl_find|nof_ctrl_create|genl_ctrl_find|any_ctrl|live_ctrl|pick)$";
@@
f(...) {
... when any
x = g@p(...)
... when != e = x
if (\(!x\|IS_ERR(x)\)) S
... when any
    when != e = x
    when != return x;
    when != nof_ctrl_put(x)
    when != ask(..., x)
}

@script:python@
p << ctrl.p;
g << ctrl.g;
x << ctrl.x;
@@
coccilib.report.print_report(p[0], f"the reference {x} from {g}() is not dropped on an exit path")

@subsys exists@
local idexpression struct nof_subsys * x;
expression e;
statement S;
position p;
identifier f;
identifier g =~ "^(nof_subsys_find|nof_subsys_join|find)$";
@@
f(...) {
... when any
x = g@p(...)
... when != e = x
if (\(!x\|IS_ERR(x)\)) S
... when any
    when != e = x
    when != return x;
    when != nof_subsys_put(x)
    when != nof_subsys_leave(x)
    when != e = nof_subsys_get(x)
}

@script:python@
p << subsys.p;
g << subsys.g;
x << subsys.x;
@@
coccilib.report.print_report(p[0], f"the reference {x} from {g}() is not dropped on an exit path")

@head exists@
local idexpression struct nof_head * x;
expression e;
statement S;
position p;
identifier f;
identifier g =~ "^(nof_head_find|head_of|attach_too_wide|find_lingering)$";
@@
f(...) {
... when any
x = g@p(...)
... when != e = x
if (\(!x\|IS_ERR(x)\)) S
... when any
    when != e = x
    when != return x;
    when != nof_head_put(x)
    when != nof_head_unpin(x)
}

@script:python@
p << head.p;
g << head.g;
x << head.x;
@@
coccilib.report.print_report(p[0], f"the reference {x} from {g}() is not dropped on an exit path")

@path exists@
local idexpression struct nof_path * x;
expression e;
statement S;
position p;
identifier f;
identifier g =~ "^(nof_path_find)$";
@@
f(...) {
... when any
x = g@p(...)
... when != e = x
if (\(!x\|IS_ERR(x)\)) S
... when any
    when != e = x
    when != return x;
    when != nof_path_unpin(x)
}

@script:python@
p << path.p;
g << path.g;
x << path.x;
@@
coccilib.report.print_report(p[0], f"the reference {x} from {g}() is not dropped on an exit path")

@transport exists@
local idexpression struct nof_transport * x;
expression e;
statement S;
position p;
identifier f;
identifier g =~ "^(nof_transport_get)$";
@@
f(...) {
... when any
x = g@p(...)
... when != e = x
if (\(!x\|IS_ERR(x)\)) S
... when any
    when != e = x
    when != return x;
    when != nof_transport_put(x)
}

@script:python@
p << transport.p;
g << transport.g;
x << transport.x;
@@
coccilib.report.print_report(p[0], f"the reference {x} from {g}() is not dropped on an exit path")

@selector exists@
local idexpression struct nof_selector * x;
expression e;
statement S;
position p;
identifier f;
identifier g =~ "^(nof_selector_get)$";
@@
f(...) {
... when any
x = g@p(...)
... when != e = x
if (\(!x\|IS_ERR(x)\)) S
... when any
    when != e = x
    when != return x;
    when != nof_selector_put(x)
    when != selector_change(..., x)
}

@script:python@
p << selector.p;
g << selector.g;
x << selector.x;
@@
coccilib.report.print_report(p[0], f"the reference {x} from {g}() is not dropped on an exit path")

@ctrl_get exists@
local idexpression struct nof_ctrl *x;
expression e;
position p;
identifier f;
@@
f(...) {
... when any
x = nof_ctrl_get@p(...)
... when != e = x
    when != return x;
    when != nof_ctrl_put(x)
}

@script:python@
p << ctrl_get.p;
x << ctrl_get.x;
@@
coccilib.report.print_report(p[0], f"the reference on {x} is not dropped on an exit path")

@ctrl_hold exists@
struct nof_ctrl *x;
expression e;
position p;
identifier f;
@@
f(...) {
... when any
nof_ctrl_get@p(x);
... when != e = x
    when != return x;
    when != nof_ctrl_put(x)
}

@script:python@
p << ctrl_hold.p;
x << ctrl_hold.x;
@@
coccilib.report.print_report(p[0], f"the reference on {x} is not dropped on an exit path")

@subsys_get exists@
local idexpression struct nof_subsys *x;
expression e;
position p;
identifier f;
@@
f(...) {
... when any
x = nof_subsys_get@p(...)
... when != e = x
    when != return x;
    when != nof_subsys_put(x)
}

@script:python@
p << subsys_get.p;
x << subsys_get.x;
@@
coccilib.report.print_report(p[0], f"the reference on {x} is not dropped on an exit path")

@subsys_hold exists@
struct nof_subsys *x;
expression e;
position p;
identifier f;
@@
f(...) {
... when any
nof_subsys_get@p(x);
... when != e = x
    when != return x;
    when != nof_subsys_put(x)
}

@script:python@
p << subsys_hold.p;
x << subsys_hold.x;
@@
coccilib.report.print_report(p[0], f"the reference on {x} is not dropped on an exit path")

@head_hold exists@
struct nof_head *x;
expression e;
position p;
identifier f;
@@
f(...) {
... when any
kref_get@p(&x->ref);
... when != e = x
    when != return x;
    when != nof_head_put(x)
}

@script:python@
p << head_hold.p;
x << head_hold.x;
@@
coccilib.report.print_report(p[0], f"the reference on {x} is not dropped on an exit path")

@head_pin exists@
local idexpression struct nof_head *x;
expression e;
position p;
identifier f;
@@
f(...) {
... when any
x = nof_head_pin@p(...)
... when != e = x
    when != return x;
    when != nof_head_unpin(x)
}

@script:python@
p << head_pin.p;
x << head_pin.x;
@@
coccilib.report.print_report(p[0], f"the reference on {x} is not dropped on an exit path")

@head_try exists@
struct nof_head *x;
statement S;
expression e;
position p;
identifier f;
@@
f(...) {
... when any
if (!kref_get_unless_zero@p(&x->ref)) S
... when any
    when != e = x
    when != return x;
    when != nof_head_put(x)
}

@script:python@
p << head_try.p;
x << head_try.x;
@@
coccilib.report.print_report(p[0], f"the reference on {x} is not dropped on an exit path")

@disk_hold exists@
expression x;
struct nof_head *h;
expression e;
position p;
identifier f;
@@
f(...) {
... when any
get_device@p(disk_to_dev(x));
... when != e = h
    when != e = x
    when != return x;
    when != return h;
    when != put_device(disk_to_dev(x))
}

@script:python@
p << disk_hold.p;
x << disk_hold.x;
@@
coccilib.report.print_report(p[0], f"the reference on {x} is not dropped on an exit path")

@each exists@
local idexpression struct nof_head *h;
identifier g =~ "^(nof_head_find|find_lingering)$";
position p;
@@
h = g@p(...)
... when != nof_head_put(h)
h = g(...)

@script:python@
p << each.p;
g << each.g;
@@
coccilib.report.print_report(p[0], f"the reference from {g}() is not given back each time round")

@each_ctrl exists@
local idexpression struct nof_ctrl *c;
identifier g =~ "^(nof_ctrl_find|any_ctrl)$";
position p;
@@
c = g@p(...)
... when != nof_ctrl_put(c)
c = g(...)

@script:python@
p << each_ctrl.p;
g << each_ctrl.g;
@@
coccilib.report.print_report(p[0], f"the reference from {g}() is not given back each time round")
