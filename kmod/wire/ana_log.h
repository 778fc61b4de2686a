/* SPDX-License-Identifier: GPL-2.0-only */
/* Parses the ANA log page of a target. Pure logic, also compiled in userspace. */
#ifndef NOF_WIRE_ANA_LOG_H
#define NOF_WIRE_ANA_LOG_H

#include <linux/types.h>

/**
 * nof_ana_parse() - check an ANA log page, then walk its groups
 * @buf:	the page, @len bytes of it received; bytes after the last group are ignored
 * @nanagrpid:	number of groups the controller has
 * @anagrpmax:	highest group identifier
 * @group:	called for each group in the order of the log, with a state of enum nvmeof_ana_state; only if the whole
 *		log is valid. May be NULL
 * @arg:	for @group
 * Returns NULL, or a text that describes the error.
 */
const char *nof_ana_parse(const void *buf, size_t len, u32 nanagrpid, u32 anagrpmax,
			  void (*group)(void *arg, u32 grp, u8 state), void *arg);

#endif
