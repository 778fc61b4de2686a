/* SPDX-License-Identifier: GPL-2.0-only */
/* Retry class, errno and name of each NVMe status. Pure logic, also compiled in userspace. */
#ifndef NOF_WIRE_STATUS_H
#define NOF_WIRE_STATUS_H

#include <linux/nvme.h>
#include <linux/types.h>

enum nof_disposition {
	NOF_DONE,		/* success */
	NOF_RETRY_PATH,		/* the path is at fault: retry on another path */
	NOF_RETRY,		/* retry, on the same or another path */
	NOF_FAIL,		/* complete with an error */
};

/* A status is the Status field of the completion: SC, SCT, CRD, M, DNR, no phase tag (NVMe Base 2.0, 3.3.3.2.1). */

/*
 * nof_status_disposition() - what to do with a completed command
 * @retriable:	false if its retries are used up, or it must not be retried (fail-fast)
 * Do Not Retry is honoured for every status, also for ANA: it applies to the whole subsystem, not to this controller.
 */
enum nof_disposition nof_status_disposition(u16 status, bool retriable);

/*
 * nof_status_received() - status of a response from the target
 * The host itself completes commands with Command Aborted By Host if their connection is lost before a response. From a
 * target it is read as Host Pathing Error: such a command was sent, and may have been executed.
 */
static inline u16 nof_status_received(u16 status)
{
	if (unlikely((status & NVME_SCT_SC_MASK) == NVME_SC_HOST_ABORTED_CMD))
		return (status & ~NVME_SCT_SC_MASK) | NVME_SC_HOST_PATH_ERROR;
	return status;
}

/* 0, or a negative errno that maps to a blk_status_t. Status codes as for I/O commands, not Connect. */
int nof_status_errno(u16 status);

/* Name as in the specification, ignoring CRD, M and DNR; for an unlisted status, its type. Never NULL. */
const char *nof_status_name(u16 status);

#endif
