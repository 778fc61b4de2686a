// SPDX-License-Identifier: GPL-2.0-only
/* The one place where the trace events are made: they look at objects of all layers. */
#include "core/ctrl.h"
#include "core/queue.h"
#include "mpath/choose.h"
#include "mpath/fence.h"
#include "mpath/head.h"
#include "mpath/path.h"

#define CREATE_TRACE_POINTS
#include "core/trace.h"
