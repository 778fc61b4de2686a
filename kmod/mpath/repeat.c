// SPDX-License-Identifier: GPL-2.0-only
#include <linux/kernel.h>
#include <linux/nvme.h>
#include "mpath/repeat.h"

/* What the oldest kernel's linux/nvme.h has no names for (NVMe Base 2.0, figure 391) */
enum {
	OP_IO_MGMT_RECV	= 0x12,
};

/* NVMe Base 2.0, figure 391 */
enum nof_repeat nof_repeat_of_any(u8 opcode)
{
	switch (opcode) {
	case nvme_cmd_flush:
	case nvme_cmd_resv_report:
	case OP_IO_MGMT_RECV:
		return NOF_REPEAT_FREELY;
	default:
		return NOF_REPEAT_NEVER;
	}
}

/*
 * What is not here is never repeated: what registers, acquires or releases answers otherwise the second time; Copy may
 * have its source where it has written to; nobody knows what a command of a vendor does.
 */
enum nof_repeat nof_repeat_of(u8 opcode, bool zoned)
{
	switch (opcode) {
	case nvme_cmd_read:
	case nvme_cmd_compare:
	case nvme_cmd_verify:
		return NOF_REPEAT_FREELY;
	case nvme_cmd_zone_mgmt_recv:
		return zoned ? NOF_REPEAT_FREELY : NOF_REPEAT_NEVER;
	case nvme_cmd_dsm:
		return NOF_REPEAT_FENCED;
	case nvme_cmd_write:
	case nvme_cmd_write_uncor:
	case nvme_cmd_write_zeroes:
		/* it has moved the write pointer of its zone */
		return zoned ? NOF_REPEAT_NEVER : NOF_REPEAT_FENCED;
	default:
		return nof_repeat_of_any(opcode);
	}
}
