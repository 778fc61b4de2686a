/* SPDX-License-Identifier: GPL-2.0-only */
/* Cross-Controller Reset (TP8028, in NVMe Base 2.3): one controller of a subsystem is asked to end another. */
#ifndef NOF_CORE_CCR_H
#define NOF_CORE_CCR_H

#include "wire/ccr_log.h"

struct nof_ctrl;

/* One association's controller, told from an earlier or later one with the same identifier; @cirn 0: cannot be told */
struct nof_instance {
	u16	cntlid;
	u8	ciu;
	u64	cirn;
};

/* Whether this controller can be asked to end that instance: live, offers the command, and is not the same one */
bool nof_ccr_can(struct nof_ctrl *source, const struct nof_instance *victim);

/**
 * nof_ccr_send() - ask a controller to end another
 * @source:	that is asked
 * @victim:	that shall end
 * @answered:	called once when this returns 0, in any context, no later than with the loss of @source's association
 * @arg:	for @answered
 *
 * A controller that does not answer is not given up for that: it may serve I/O well. Needs memory that may not be
 * there. Context: process, does not wait. Returns 0 or a negative errno.
 */
int nof_ccr_send(struct nof_ctrl *source, const struct nof_instance *victim,
		 void (*answered)(void *arg, struct nof_ctrl *source, enum nof_ccr_answer answer), void *arg);
/*
 * Reads the log of @source, which forgets then what is over: @over has to hand it on to all who may wait for it.
 * Context: process, sleeps. Returns 0, an NVMe status or a negative errno.
 */
int nof_ccr_read(struct nof_ctrl *source, nof_ccr_over_fn *over, void *arg);
/* The controller tells when a reset is over; otherwise the log has to be looked at */
bool nof_ccr_notifies(const struct nof_ctrl *source);

#endif
