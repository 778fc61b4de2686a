// SPDX-License-Identifier: GPL-2.0-only
/* __assign_str() of trace events */

#ifdef SPELLING_ONE	/* takes its source from __string() */
#define nof_probe_assign(field, src)	__assign_str(field)
#define CREATE_TRACE_POINTS
#include "assign_str.h"
#endif

#ifdef SPELLING_TWO
#define nof_probe_assign(field, src)	__assign_str(field, src)
#define CREATE_TRACE_POINTS
#include "assign_str.h"
#endif
