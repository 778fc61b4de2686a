/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Included before everything else in each file of the modules: gives older kernels the spelling of the newest one
 * that we build for. compat_config.h says what the probes found. What differs in more than spelling has a header of
 * its own here (dispatch.h, limits.h, sock_send.h, trace.h), included by those who need it.
 */
#ifndef NOF_COMPAT_H
#define NOF_COMPAT_H

#include "compat_config.h"

#include "compat/blk.h"
#include "compat/dev.h"
#include "compat/net.h"
#include "compat/nvme.h"
#include "compat/string.h"

#endif
