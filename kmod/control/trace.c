// SPDX-License-Identifier: GPL-2.0-only
/* Instantiates the trace events. They read objects of all layers, so this file is in the topmost one. */
#include "core/ctrl.h"
#include "core/queue.h"
#include "mpath/choose.h"
#include "mpath/fence.h"
#include "mpath/head.h"
#include "mpath/path.h"

#define CREATE_TRACE_POINTS
#include "core/trace.h"
