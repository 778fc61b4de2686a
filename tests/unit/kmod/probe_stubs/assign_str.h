/* SPDX-License-Identifier: LGPL-2.1-or-later */
#define TP_PROTO(...) __VA_ARGS__
#define TP_ARGS(...)
#define TP_STRUCT__entry(...)
#define TP_fast_assign(...) __VA_ARGS__
#define TP_printk(...)
#define TRACE_EVENT(name, proto, args, entry, assign, print) \
	static inline void name(proto)                       \
	{                                                    \
		assign                                       \
	}

#ifdef STUB_ONE
#define __assign_str(field) ((void)name)
#endif

#ifdef STUB_TWO
#define __assign_str(field, src) ((void)(src))
#endif
