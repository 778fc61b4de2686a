/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reservations of a disk, by any of its paths. A registrant is this host, so what is done by one path counts for all of
 * them, for one that comes back and for one that joins: nothing is repeated there.
 */
#ifndef NOF_MPATH_RESERVE_H
#define NOF_MPATH_RESERVE_H

#include "compat/pr.h"

extern const struct pr_ops nof_reserve_ops;

#endif
