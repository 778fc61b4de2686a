/* SPDX-License-Identifier: GPL-2.0-only */
/* What the siblings of a controller's paths say of one that completes nothing. */
#ifndef NOF_MPATH_STALL_H
#define NOF_MPATH_STALL_H

#include <linux/types.h>

struct nof_ctrl;

/* Both as in struct nof_mpath_ops. Context: process, takes subsys->lock. */
bool nof_stall_elsewhere(struct nof_ctrl *ctrl);
const char *nof_stall_verdict(struct nof_ctrl *ctrl, bool alone);

#endif
