/* SPDX-License-Identifier: GPL-2.0-only */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM nof_probe

#if !defined(PROBE_ASSIGN_STR_H) || defined(TRACE_HEADER_MULTI_READ)
#define PROBE_ASSIGN_STR_H

#include <linux/tracepoint.h>

TRACE_EVENT(nof_probe,
	TP_PROTO(const char *name),
	TP_ARGS(name),
	TP_STRUCT__entry(__string(name, name)),
	TP_fast_assign(nof_probe_assign(name, name);),
	TP_printk("%s", __get_str(name))
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE assign_str
#include <trace/define_trace.h>
