// SPDX-License-Identifier: GPL-2.0-only
#include <linux/kernel.h>
#include <linux/nvme.h>
#include "mpath/repeatable.h"

/* Opcodes without a name in the linux/nvme.h of older kernels (NVMe Base 2.0, figure 391) */
enum {
	OP_IO_MGMT_RECV	= 0x12,
};

/* Opcodes common to all I/O command sets (NVMe Base 2.0, figure 391) */
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
 * All other commands are never repeated. Reservation commands return another result the second time; the source of a
 * Copy may overlap its destination; the effect of a vendor specific command is unknown.
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
		/* the first execution moved the write pointer of the zone */
		return zoned ? NOF_REPEAT_NEVER : NOF_REPEAT_FENCED;
	default:
		return nof_repeat_of_any(opcode);
	}
}
