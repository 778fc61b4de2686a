/* SPDX-License-Identifier: GPL-2.0-only */
/* Reservations of block devices: the read operations and the return values, which kernels before 6.4 lack */
#ifndef NOF_COMPAT_PR_H
#define NOF_COMPAT_PR_H

#include <linux/blkdev.h>
#include <linux/pr.h>

#if NOF_HAVE_PR_READ_PRESENT
#define NOF_PR_READ_OPS(keys, held)	.pr_read_keys = keys, .pr_read_reservation = held,
#else
struct pr_keys {
	u32	generation;
	u32	num_keys;
	u64	keys[];
};

struct pr_held_reservation {
	u64		key;
	u32		generation;
	enum pr_type	type;
};

#define NOF_PR_READ_OPS(keys, held)

/* Before 6.4 each driver returned values of its own; these are the newer ones, taken from SCSI */
enum pr_status {
	PR_STS_SUCCESS			= 0x0,
	PR_STS_IOERR			= 0x2,
	PR_STS_RESERVATION_CONFLICT	= 0x18,
	PR_STS_RETRY_PATH_FAILURE	= 0xe0000,
	PR_STS_PATH_FAILED		= 0x10000,
};
#endif

#endif
