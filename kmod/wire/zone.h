/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Checks and decodes zone reports, and decides from the state of a zone whether a command whose response was lost was
 * executed. Pure logic, also compiled in userspace.
 */
#ifndef NOF_WIRE_ZONE_H
#define NOF_WIRE_ZONE_H

#include <linux/nvme.h>
#include <linux/types.h>

/* ZNS 1.1, figure 37; the block layer uses the same values */
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
 * struct nof_zone - decoded zone descriptor, in logical blocks
 * @wp:		write pointer; @start + @capacity if the zone takes no writes
 * @state:	enum nof_zone_state
 * @finished_by_ctrl:	the controller finished the zone by itself
 * @reset_recommended:	the controller recommends a reset of the zone
 */
struct nof_zone {
	u64	start;
	u64	capacity;
	u64	wp;
	u8	state;
	bool	finished_by_ctrl;
	bool	reset_recommended;
};

/*
 * Returns the number of zones in a report of @len bytes, or -EPROTO with the reason in *@why. @most: zones from the
 * start of the report to the end of the namespace
 */
int nof_zone_count(const struct nvme_zone_report *report, u32 len, u64 most, const char **why);
/* Decodes one zone, which must begin at @start. Returns NULL, or the reason of a refusal. */
const char *nof_zone_decode(const struct nvme_zone_descriptor *desc, u64 start, u64 zone_blocks, struct nof_zone *zone);

enum nof_zone_act {
	NOF_ZONE_ACT_WRITE,
	NOF_ZONE_ACT_OPEN,
	NOF_ZONE_ACT_CLOSE,
	NOF_ZONE_ACT_FINISH,
	NOF_ZONE_ACT_RESET,
};

/* Verdict on a command whose response was lost */
enum nof_zone_verdict {
	NOF_ZONE_DONE,		/* the command was executed */
	NOF_ZONE_AGAIN,		/* it was not executed: retry */
	NOF_ZONE_UNDECIDED,	/* cannot be decided */
	NOF_ZONE_QUERY_FAILED,	/* the zone report failed */
};

/*
 * Decides by the present state of the zone. No other command may be sent to the zone meanwhile, and the lost command
 * must no longer be executed. @from, @to: of a write, its first block and the one after its last
 */
enum nof_zone_verdict nof_zone_judge(const struct nof_zone *zone, enum nof_zone_act act, u64 from, u64 to);

#endif
