// SPDX-License-Identifier: LGPL-2.1-or-later
// What a function allocates for itself it frees on every way out, or stores, returns or hands on.

@memory exists@
local idexpression x;
expression e;
statement S;
identifier f;
identifier alloc =~ "^(kv?[mzc]alloc(_node|_array)?|kmemdup|kstrdup)$";
position p;
@@
f(...) {
... when any
x = alloc@p(...)
... when != e = x
if (!x) S
... when any
    when != e = x
    when != return x;
    when != kfree(x)
    when != kfree_sensitive(x)
    when != kvfree(x)
    when != kfree_rcu(x, ...)
    when != rcu_assign_pointer(e, x)
    when != nof_admin_send(..., &x->cmd)
    when != nof_admin_submit(..., &x->cmd)
    when != list_add(&x->entry, ...)
    when != kobject_put(&x->kobj)
    when != put_device(&x->dev)
}

@script:python@
p << memory.p;
x << memory.x;
alloc << memory.alloc;
@@
coccilib.report.print_report(p[0], f"{x}, allocated by {alloc}(), is not freed on an exit path")

@pages exists@
local idexpression x;
expression e;
statement S;
identifier f;
identifier alloc =~ "^(alloc_pages_exact)$";
position p;
@@
f(...) {
... when any
x = alloc@p(...)
... when != e = x
if (!x) S
... when any
    when != e = x
    when != return x;
    when != free_pages_exact(x, ...)
}

@script:python@
p << pages.p;
x << pages.x;
alloc << pages.alloc;
@@
coccilib.report.print_report(p[0], f"{x}, allocated by {alloc}(), is not freed on an exit path")

@message exists@
local idexpression x;
expression e;
statement S;
identifier f;
identifier alloc =~ "^(genlmsg_new|nlmsg_new|alloc_skb)$";
position p;
@@
f(...) {
... when any
x = alloc@p(...)
... when != e = x
if (!x) S
... when any
    when != e = x
    when != return x;
    when != nlmsg_free(x)
    when != kfree_skb(x)
    when != genlmsg_reply(x, ...)
    when != genlmsg_multicast_allns(..., x, ...)
}

@script:python@
p << message.p;
x << message.x;
alloc << message.alloc;
@@
coccilib.report.print_report(p[0], f"{x}, allocated by {alloc}(), is not freed on an exit path")

@request exists@
local idexpression x;
expression e;
statement S;
identifier f;
identifier alloc =~ "^(blk_mq_alloc_request)$";
position p;
@@
f(...) {
... when any
x = alloc@p(...)
... when != e = x
if (IS_ERR(x)) S
... when any
    when != e = x
    when != return x;
    when != blk_mq_free_request(x)
}

@script:python@
p << request.p;
x << request.x;
alloc << request.alloc;
@@
coccilib.report.print_report(p[0], f"{x}, allocated by {alloc}(), is not freed on an exit path")

@disk exists@
local idexpression x;
expression e;
statement S;
identifier f;
identifier alloc =~ "^(blk_mq_alloc_disk|nof_limits_alloc_disk)$";
position p;
@@
f(...) {
... when any
x = alloc@p(...)
... when != e = x
if (IS_ERR(x)) S
... when any
    when != e = x
    when != return x;
    when != put_disk(x)
}

@script:python@
p << disk.p;
x << disk.x;
alloc << disk.alloc;
@@
coccilib.report.print_report(p[0], f"{x}, allocated by {alloc}(), is not freed on an exit path")

@number exists@
local idexpression id;
expression e, ids;
statement S;
identifier f;
identifier alloc =~ "^ida_alloc";
position p;
@@
f(...) {
... when any
id = alloc@p(ids, ...)
... when != e = id
if (id < 0) S
... when any
    when != e = <+... id ...+>
    when != return id;
    when != ida_free(ids, id)
}

@script:python@
p << number.p;
@@
coccilib.report.print_report(p[0], "the number is not freed on an exit path")

@nest exists@
expression skb, x, e;
statement S;
identifier f;
position p;
@@
f(...) {
... when any
x = nla_nest_start@p(skb, ...)
...
if (!x) S
... when any
    when != nla_nest_end(skb, x)
    when != nla_nest_cancel(skb, x)
    when != nlmsg_free(skb)
}

@script:python@
p << nest.p;
@@
coccilib.report.print_report(p[0], "the nest is neither ended nor cancelled on an exit path")

@socket exists@
local idexpression struct socket *x;
expression e, err;
statement S;
identifier f;
position p;
@@
f(...) {
... when any
err = sock_create_kern@p(..., &x)
... when != socket_publish(..., x)
if (err) S
... when any
    when != e = x
    when != return x;
    when != sock_release(x)
    when != release(x)
    when != nof_tls_prepare(x)
    when != socket_publish(..., x)
}

@script:python@
p << socket.p;
@@
coccilib.report.print_report(p[0], "the socket is not released on an exit path")

// device_initialize() and kobject_init(): from there on the reference count decides, not kfree().
@counted exists@
local idexpression x;
expression e;
position p;
@@
\(device_initialize(&x->dev)\|kobject_init(&x->kobj, ...)\|kref_init(&x->ref)\|kobject_init_and_add(&x->kobj, ...)\)
... when != x = e
kfree@p(x)

@script:python@
p << counted.p;
x << counted.x;
@@
coccilib.report.print_report(p[0], f"{x} counts its references: put it instead")
