/* SPDX-License-Identifier: GPL-2.0-only */
/* What a controller says of the Cross-Controller Resets it was asked for. Pure logic, also compiled in userspace. */
#ifndef NOF_WIRE_CCR_LOG_H
#define NOF_WIRE_CCR_LOG_H

#include <linux/types.h>

/* TP8028, in NVMe Base 2.3: log page 1Eh is never longer than this */
#define NOF_LOG_CCR		0x1e
#define NOF_LOG_CCR_REMOVE	1	/* LSP: what is over leaves the log with this read */
#define NOF_LOG_CCR_BYTES	4096

enum nof_ccr_answer {
	NOF_CCR_DONE,		/* that instance of the controller is no more */
	NOF_CCR_RUNNING,	/* the log will tell */
	NOF_CCR_LATER,		/* this controller has too many of them now */
	NOF_CCR_REFUSED,
};

/* The answer to the command: @status as in nof_cmd, @dw0 of its completion */
enum nof_ccr_answer nof_ccr_answer(u16 status, u32 dw0);

/* A reset is over: identifier and uniquifier of the impacted controller, and whether it was reset */
typedef void nof_ccr_over_fn(void *arg, u16 cntlid, u8 ciu, bool done);

/**
 * nof_ccr_parse() - walk the resets that are over
 * @buf:	log page 1Eh, @len bytes of it received
 * @over:	called for each
 * @arg:	for @over
 * Returns NULL, or for a person what is wrong; then @over was not called.
 */
const char *nof_ccr_parse(const void *buf, size_t len, nof_ccr_over_fn *over, void *arg);

#endif
