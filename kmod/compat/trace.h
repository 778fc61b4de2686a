/* SPDX-License-Identifier: GPL-2.0-only */
/* For headers with trace events */
#ifndef NOF_COMPAT_TRACE_H
#define NOF_COMPAT_TRACE_H

/* In TP_fast_assign(), for a field declared as __string(field, src) */
#if NOF_HAVE_ASSIGN_STR_ONE
#define nof_assign_str(field, src)	__assign_str(field)
#else
#define nof_assign_str(field, src)	__assign_str(field, src)
#endif

#endif
