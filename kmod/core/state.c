// SPDX-License-Identifier: GPL-2.0-only
#include <linux/bits.h>
#include <linux/kernel.h>
#include "core/state.h"

static const struct {
	const char	*name;
	unsigned long	next;
} states[] = {
	[NVMEOF_CTRL_NEW]	 = { "new",	   BIT(NVMEOF_CTRL_CONNECTING) | BIT(NVMEOF_CTRL_DELETING) },
	[NVMEOF_CTRL_CONNECTING] = { "connecting", BIT(NVMEOF_CTRL_LIVE) | BIT(NVMEOF_CTRL_RECOVERING) |
						   BIT(NVMEOF_CTRL_DELETING) | BIT(NVMEOF_CTRL_LOST) },
	[NVMEOF_CTRL_LIVE]	 = { "live",	   BIT(NVMEOF_CTRL_RECOVERING) | BIT(NVMEOF_CTRL_DELETING) },
	[NVMEOF_CTRL_RECOVERING] = { "recovering", BIT(NVMEOF_CTRL_CONNECTING) | BIT(NVMEOF_CTRL_DELETING) },
	[NVMEOF_CTRL_DELETING]	 = { "deleting",   BIT(NVMEOF_CTRL_DEAD) },
	[NVMEOF_CTRL_DEAD]	 = { "dead",	   0 },
	[NVMEOF_CTRL_LOST]	 = { "lost",	   BIT(NVMEOF_CTRL_CONNECTING) | BIT(NVMEOF_CTRL_LIVE) |
						   BIT(NVMEOF_CTRL_DELETING) },
};

static bool state_known(enum nvmeof_ctrl_state state)
{
	return (unsigned int)state < ARRAY_SIZE(states);
}

bool nof_state_may(enum nvmeof_ctrl_state from, enum nvmeof_ctrl_state to)
{
	return state_known(from) && state_known(to) && (states[from].next & BIT(to));
}

bool nof_state_connects(enum nvmeof_ctrl_state state)
{
	return state == NVMEOF_CTRL_CONNECTING || state == NVMEOF_CTRL_LOST;
}

bool nof_state_ends(enum nvmeof_ctrl_state state)
{
	return state == NVMEOF_CTRL_DELETING || state == NVMEOF_CTRL_DEAD;
}

const char *nof_state_name(enum nvmeof_ctrl_state state)
{
	return state_known(state) ? states[state].name : "unknown";
}
