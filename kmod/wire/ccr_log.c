// SPDX-License-Identifier: GPL-2.0-only
#include <linux/kernel.h>
#include <linux/nvme.h>
#include <linux/string.h>
#include "wire/ccr_log.h"

/* TP8028: command specific status values, and bit 0 of the completion */
#define SC_CCR_IN_PROGRESS	0x13f
#define SC_CCR_LOG_FULL		0x140
#define SC_CCR_LIMIT		0x141
#define SC_MASK			0x7ff
#define DW0_DONE		1

struct log_header {
	__le16	entries;
	u8	reserved[6];
};

enum { LOG_SUCCESS = 1, LOG_FAILED = 2 };

struct log_entry {
	__le16	cntlid;
	u8	ciu;
	u8	reserved;
	__le16	by;		/* the controller that carried out the reset */
	u8	status;
	u8	flags;
};

enum nof_ccr_result nof_ccr_result(u16 status, u32 dw0)
{
	switch (status & SC_MASK) {
	case 0:
		return dw0 & DW0_DONE ? NOF_CCR_DONE : NOF_CCR_RUNNING;
	case SC_CCR_IN_PROGRESS:
		return NOF_CCR_RUNNING;
	case SC_CCR_LOG_FULL:
	case SC_CCR_LIMIT:
		return NOF_CCR_BUSY;
	default:
		return NOF_CCR_REFUSED;
	}
}

const char *nof_ccr_parse(const void *buf, size_t len, nof_ccr_done_fn *over, void *arg)
{
	const u8 *p = buf;
	struct log_header header;
	struct log_entry entry;
	u32 i, nr;

	if (len < sizeof(header))
		return "Cross-Controller Reset log shorter than its header";
	memcpy(&header, p, sizeof(header));
	nr = le16_to_cpu(header.entries);
	if (nr > (len - sizeof(header)) / sizeof(entry))
		return "Cross-Controller Reset log with more entries than it has room for";
	for (i = 0; i < nr; i++) {
		memcpy(&entry, p + sizeof(header) + i * sizeof(entry), sizeof(entry));
		if (entry.status == LOG_SUCCESS || entry.status == LOG_FAILED)
			over(arg, le16_to_cpu(entry.cntlid), entry.ciu, entry.status == LOG_SUCCESS);
	}
	return NULL;
}
