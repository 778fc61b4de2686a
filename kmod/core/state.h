/* SPDX-License-Identifier: GPL-2.0-only */
/* State transitions of a controller. Pure logic, also compiled in userspace. */
#ifndef NOF_CORE_STATE_H
#define NOF_CORE_STATE_H

#include <linux/types.h>
#include <uapi/linux/nvmeof.h>

/* True if the transition is allowed. False for unknown values, and from a state to itself. */
bool nof_state_may(enum nvmeof_ctrl_state from, enum nvmeof_ctrl_state to);
/* True if connect attempts are made in this state */
bool nof_state_connects(enum nvmeof_ctrl_state state);
/* True if the controller is being or has been deleted */
bool nof_state_ends(enum nvmeof_ctrl_state state);
/* Name of the state ("live"); never NULL */
const char *nof_state_name(enum nvmeof_ctrl_state state);

#endif
