// SPDX-License-Identifier: LGPL-2.1-or-later
// An object is not touched after it was freed, its reference put, or its command or request completed: completed, it
// may be in use again before the call returns.

@freed exists@
local idexpression x;
expression e;
iterator iter;
statement S;
identifier m;
position p;
@@
\(kfree(x)\|kvfree(x)\|kfree_skb(x)\|nlmsg_free(x)\|nof_ctrl_put(x)\|nof_subsys_put(x)\|nof_head_put(x)\|
kobject_put(&x->kobj)\|put_device(&x->dev)\|nof_subsys_leave(x)\|nof_queue_free(x)\|path_set_free(x)\)
...
(
iter(..., x, ...) S
|
x = e
|
x@p->m
)

@script:python@
p << freed.p;
x << freed.x;
@@
coccilib.report.print_report(p[0], f"{x} may be gone by now")

@completed exists@
local idexpression x;
expression e;
iterator iter;
statement S;
identifier m;
position p;
@@
\(nof_cmd_complete(x, ...)\|blk_mq_end_request(x, ...)\|blk_mq_requeue_request(x, ...)\|blk_mq_complete_request(x)\|
nof_request_fail(x, ...)\|nof_request_redispatch(x, ...)\|nof_request_put_back(..., x)\|request_requeue(..., x)\|
blk_mq_free_request(x)\)
...
(
iter(..., x, ...) S
|
x = e
|
x@p->m
)

@script:python@
p << completed.p;
x << completed.x;
@@
coccilib.report.print_report(p[0], f"{x} was handed back: it may be in use again")

@handed exists@
local idexpression x;
expression e;
iterator iter;
statement S;
identifier g;
position p;
@@
\(kfree(x)\|nof_ctrl_put(x)\|nof_subsys_put(x)\|nof_head_put(x)\|nlmsg_free(x)\|kfree_skb(x)\|nof_cmd_complete(x, ...)\|
blk_mq_end_request(x, ...)\|blk_mq_free_request(x)\|nof_queue_free(x)\)
...
(
iter(..., x, ...) S
|
x = e
|
g@p(..., x, ...)
)

@script:python@
p << handed.p;
x << handed.x;
g << handed.g;
@@
coccilib.report.print_report(p[0], f"{g}() gets {x}, which may be gone by now")
