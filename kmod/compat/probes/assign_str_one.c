// SPDX-License-Identifier: GPL-2.0-only
/* __assign_str() takes no source: it uses that of __string() */
#define CREATE_TRACE_POINTS
#include "assign_str_one.h"
