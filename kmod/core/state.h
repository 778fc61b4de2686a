/* SPDX-License-Identifier: GPL-2.0-only */
/* Which states of a controller may follow which. Pure logic, also compiled in userspace. */
#ifndef NOF_CORE_STATE_H
#define NOF_CORE_STATE_H

#include <linux/types.h>
#include <uapi/linux/nvmeof.h>

/* False also for values that are no states. A state does not follow itself. */
bool nof_state_may(enum nvmeof_ctrl_state from, enum nvmeof_ctrl_state to);
/* Attempts are made to become live, or will be */
bool nof_state_connects(enum nvmeof_ctrl_state state);
/* It is being deleted, or has been */
bool nof_state_ends(enum nvmeof_ctrl_state state);
/* "live"; never NULL */
const char *nof_state_name(enum nvmeof_ctrl_state state);

#endif
