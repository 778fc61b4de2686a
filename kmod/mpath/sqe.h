/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef NOF_MPATH_SQE_H
#define NOF_MPATH_SQE_H

#include "core/cmd.h"

struct nof_head;

/*
 * Fills cmd from rq: sqe without SGL and identifier, buf, len, write. False for an operation the driver does not have.
 */
bool nof_sqe_setup(const struct nof_head *head, const struct request *rq, struct nof_cmd *cmd, u32 nsid);

#endif
