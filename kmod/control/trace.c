// SPDX-License-Identifier: GPL-2.0-only
/* The one place where the trace events are made. */
#include "core/ctrl.h"
#include "core/queue.h"

#define CREATE_TRACE_POINTS
#include "control/trace.h"
