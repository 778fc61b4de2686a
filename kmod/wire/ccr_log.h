/* SPDX-License-Identifier: GPL-2.0-only */
/* Decodes the results of Cross-Controller Reset commands. Pure logic, also compiled in userspace. */
#ifndef NOF_WIRE_CCR_LOG_H
#define NOF_WIRE_CCR_LOG_H

#include <linux/types.h>

/* Cross-Controller Reset log page (TP8028, NVMe Base 2.3): 1Eh, with its maximum length */
#define NOF_LOG_CCR		0x1e
#define NOF_LOG_CCR_REMOVE	1	/* LSP: this read removes the entries of completed resets */
#define NOF_LOG_CCR_BYTES	4096

enum nof_ccr_result {
	NOF_CCR_DONE,		/* that instance of the controller has ended */
	NOF_CCR_RUNNING,	/* the log page will report the result */
	NOF_CCR_BUSY,		/* too many resets outstanding on this controller */
	NOF_CCR_REFUSED,
};

/* Result of the command: @status as in struct nof_cmd, @dw0: dword 0 of its completion */
enum nof_ccr_result nof_ccr_result(u16 status, u32 dw0);

/* A reset is over. @cntlid, @ciu: identifier and instance uniquifier of the impacted controller; @done: it was reset */
typedef void nof_ccr_done_fn(void *arg, u16 cntlid, u8 ciu, bool done);

/**
 * nof_ccr_parse() - walk the resets that are over
 * @buf:	log page 1Eh, @len bytes of it received
 * @over:	called for each
 * @arg:	for @over
 * Returns NULL, or a text that describes the error; then @over was not called.
 */
const char *nof_ccr_parse(const void *buf, size_t len, nof_ccr_done_fn *over, void *arg);

#endif
