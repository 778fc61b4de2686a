// SPDX-License-Identifier: LGPL-2.1-or-later
// Calls that have no place here: unbounded string functions, BUG(), messages that a peer can ask for without a limit,
// waits of a system call that no signal ends.

@string@
identifier f =~ "^(str(n|l)?(cpy|cat)|v?sprintf|snprintf|simple_strto.*|sscanf|strtok|memcpy_and_pad)$";
position p;
@@
f@p(...)

@script:python@
p << string.p;
f << string.f;
@@
coccilib.report.print_report(p[0], f"{f}(): strscpy(), scnprintf(), kstrto...()")

@stop@
identifier f =~ "^(BUG|BUG_ON|panic|VM_BUG_ON)$";
position p;
@@
f@p(...)

@script:python@
p << stop.p;
@@
coccilib.report.print_report(p[0], "stops the machine: WARN_ON_ONCE(), and go on")

// WARN() with a trace is for what cannot happen: once.
@warn@
identifier f =~ "^(WARN|WARN_ON)$";
position p;
@@
f@p(...)

@script:python@
p << warn.p;
f << warn.f;
@@
coccilib.report.print_report(p[0], f"{f}(): once is enough")

@message@
identifier f =~ "^(pr|dev)_(emerg|alert|crit|err|warn|notice|info)$|^printk$";
position p;
@@
f@p(...)

@script:python@
p << message.p;
f << message.f;
@@
import re
core = "admin|aer|cmd|ctrl|queue|queues|scan|stall_watch"
mpath = "ana|complete|requeue|submit"
if re.search(rf"/(tcp/\w+|wire/\w+|core/({core})|mpath/({mpath})|bad/banned)\.c$", p[0].file):
	coccilib.report.print_report(p[0], f"a peer can bring {f}() about: {f}_ratelimited()")

@wait@
identifier f =~ "^(wait_event|wait_for_completion)(_timeout)?$|^(schedule|msleep|ssleep)$";
position p;
@@
f@p(...)

@script:python@
p << wait.p;
@@
import re
if re.search(r"/(control/\w+|bad/banned)\.c$", p[0].file):
	coccilib.report.print_report(p[0], "a system call waits and no signal ends it: _killable, _interruptible")
