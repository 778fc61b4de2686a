/* SPDX-License-Identifier: GPL-2.0-only */
/* The ANA log page as it comes from a target. Pure logic, also compiled in userspace. */
#ifndef NOF_WIRE_ANA_LOG_H
#define NOF_WIRE_ANA_LOG_H

#include <linux/types.h>

/**
 * nof_ana_parse() - check an ANA log page, then walk its groups
 * @buf:	the page, @len bytes of it received; what follows the last group does not matter
 * @nanagrpid:	number of groups the controller has
 * @anagrpmax:	highest group identifier
 * @group:	called for each group in the order of the log, with a state of enum nvmeof_ana_state; only when the
 *		whole log is good
 * @arg:	for @group
 * Returns NULL, or for a person what is wrong.
 */
const char *nof_ana_parse(const void *buf, size_t len, u32 nanagrpid, u32 anagrpmax,
			  void (*group)(void *arg, u32 grp, u8 state), void *arg);

#endif
