/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Zones as a target reports them, checked, and what the state of one says of a command that may or may not have been
 * executed. Pure logic, also compiled in userspace.
 */
#ifndef NOF_WIRE_ZONE_H
#define NOF_WIRE_ZONE_H

#include <linux/nvme.h>
#include <linux/types.h>

/* ZNS 1.1, figure 37; the block layer has the same values */
enum nof_zone_state {
	NOF_ZONE_EMPTY		= 0x1,
	NOF_ZONE_IMPLICIT	= 0x2,
	NOF_ZONE_EXPLICIT	= 0x3,
	NOF_ZONE_CLOSED		= 0x4,
	NOF_ZONE_READ_ONLY	= 0xd,
	NOF_ZONE_FULL		= 0xe,
	NOF_ZONE_OFFLINE	= 0xf,
};

/**
 * struct nof_zone - in logical blocks
 * @wp:		write pointer; behind the capacity where the zone takes no writes
 * @state:	enum nof_zone_state
 * @cut:	the controller has finished it by itself
 * @reset:	it recommends to reset it
 */
struct nof_zone {
	u64	start;
	u64	capacity;
	u64	wp;
	u8	state;
	bool	cut;
	bool	reset;
};

/*
 * How many zones a report of @len bytes has; @most: there are left in the namespace. Negative, with the reason in
 * *@why: it is not one.
 */
int nof_zone_count(const struct nvme_zone_report *report, u32 len, u64 most, const char **why);
/* One of them, which has to begin at @start. NULL, or the reason. */
const char *nof_zone_read(const struct nvme_zone_descriptor *desc, u64 start, u64 zone_blocks, struct nof_zone *zone);

enum nof_zone_act {
	NOF_ZONE_ACT_WRITE,
	NOF_ZONE_ACT_OPEN,
	NOF_ZONE_ACT_CLOSE,
	NOF_ZONE_ACT_FINISH,
	NOF_ZONE_ACT_RESET,
};

/* What becomes of the command */
enum nof_zone_verdict {
	NOF_ZONE_DONE,		/* it was executed */
	NOF_ZONE_AGAIN,		/* it was not: it is sent again */
	NOF_ZONE_WRONG,		/* nobody can tell */
	NOF_ZONE_UNTOLD,	/* the zone could not be asked */
};

/*
 * By the state of its zone now, where nothing else is sent to that meanwhile and nothing comes late. @from, @to: of a
 * write, its first block and that behind its last.
 */
enum nof_zone_verdict nof_zone_judge(const struct nof_zone *zone, enum nof_zone_act act, u64 from, u64 to);

#endif
