/* SPDX-License-Identifier: GPL-2.0-only */
/* What an NVMe status means for a command. Pure logic, also compiled in userspace. */
#ifndef NOF_WIRE_STATUS_H
#define NOF_WIRE_STATUS_H

#include <linux/types.h>

enum nof_disposition {
	NOF_DONE,		/* success */
	NOF_RETRY_PATH,		/* this path is the trouble: send it again on another one */
	NOF_RETRY,		/* send it again, here or elsewhere */
	NOF_FAIL,		/* hand the error up */
};

/* A status is the field of the completion without the phase bit: SC, SCT, CRD, M, DNR (NVMe Base 2.0, 3.3.3.2.1). */

/*
 * nof_status_disposition() - what to do with a completed command
 * @retriable:	false when its retries are used up or it asked for none (fail-fast)
 * Do Not Retry is honoured for every status, those of ANA too: it speaks of the whole subsystem, not of this
 * controller.
 */
enum nof_disposition nof_status_disposition(u16 status, bool retriable);

/* 0 or a negative errno, one of those that stand for a blk_status_t. Status values as for I/O commands, not Connect. */
int nof_status_errno(u16 status);

/* Short name as in the specification, without CRD, M and DNR; for an unlisted one, its kind. Never NULL. */
const char *nof_status_name(u16 status);

#endif
