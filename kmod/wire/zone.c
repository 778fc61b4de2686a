// SPDX-License-Identifier: GPL-2.0-only
#include <linux/bits.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include "wire/zone.h"

/* Zone attributes, ZNS 1.1, figure 37 */
#define ZA_FINISHED_BY_CTRL	BIT(0)
#define ZA_RESET_RECOMMENDED	BIT(2)

int nof_zone_count(const struct nvme_zone_report *report, u32 len, u64 most, const char **why)
{
	u64 room = len < sizeof(*report) ? 0 : (len - sizeof(*report)) / sizeof(report->entries[0]);
	u64 nr = len < sizeof(*report) ? 0 : le64_to_cpu(report->nr_zones);

	*why = NULL;
	if (nr > room)
		*why = "zone report: more zones than fit the buffer";
	else if (nr > most)
		*why = "zone report: zones beyond the end of the namespace";
	else if (!nr)
		*why = "zone report: empty report";
	return *why ? -EPROTO : nr;
}

static bool zone_state_known(u8 state)
{
	return (state >= NOF_ZONE_EMPTY && state <= NOF_ZONE_CLOSED) ||
	       (state >= NOF_ZONE_READ_ONLY && state <= NOF_ZONE_OFFLINE);
}

/* The field is meaningless in states that take no writes, and redundant for an empty zone. */
static const char *read_wp(const struct nvme_zone_descriptor *desc, struct nof_zone *zone)
{
	u64 end = zone->start + zone->capacity;

	zone->wp = le64_to_cpu(desc->wp);
	if (zone->state == NOF_ZONE_EMPTY)
		zone->wp = zone->start;
	else if (zone->state > NOF_ZONE_CLOSED)
		zone->wp = end;
	else if (zone->wp < zone->start || zone->wp > end)
		return "zone report: write pointer outside of its zone";
	return NULL;
}

const char *nof_zone_decode(const struct nvme_zone_descriptor *desc, u64 start, u64 zone_blocks, struct nof_zone *zone)
{
	zone->start = le64_to_cpu(desc->zslba);
	zone->capacity = le64_to_cpu(desc->zcap);
	zone->state = desc->zs >> 4;
	zone->finished_by_ctrl = desc->za & ZA_FINISHED_BY_CTRL;
	zone->reset_recommended = desc->za & ZA_RESET_RECOMMENDED;
	if (zone->start != start)
		return "zone report: zone does not start at the expected block";
	if ((desc->zt & 0xf) != NVME_ZONE_TYPE_SEQWRITE_REQ)
		return "zone report: unknown zone type";
	if (!zone_state_known(zone->state))
		return "zone report: unknown zone state";
	if (!zone->capacity || zone->capacity > zone_blocks)
		return "zone report: capacity is not within the size of a zone";
	return read_wp(desc, zone);
}

static enum nof_zone_verdict judge_write(const struct nof_zone *zone, u64 from, u64 to)
{
	/* full because it was written to its end, or finished: then the report does not tell how far it was written */
	if (zone->state == NOF_ZONE_FULL && to == zone->start + zone->capacity && !zone->finished_by_ctrl)
		return NOF_ZONE_DONE;
	if (zone->state > NOF_ZONE_CLOSED)
		return NOF_ZONE_UNDECIDED;
	if (zone->wp >= to)
		return NOF_ZONE_DONE;
	return zone->wp == from ? NOF_ZONE_AGAIN : NOF_ZONE_UNDECIDED;
}

static bool has_happened(const struct nof_zone *zone, enum nof_zone_act act)
{
	switch (act) {
	case NOF_ZONE_ACT_OPEN:
		return zone->state == NOF_ZONE_EXPLICIT;
	case NOF_ZONE_ACT_CLOSE:
		/* closing a zone without written blocks makes it empty */
		return zone->state == NOF_ZONE_CLOSED || zone->state == NOF_ZONE_EMPTY;
	case NOF_ZONE_ACT_FINISH:
		return zone->state == NOF_ZONE_FULL;
	default:
		return zone->state == NOF_ZONE_EMPTY;
	}
}

enum nof_zone_verdict nof_zone_judge(const struct nof_zone *zone, enum nof_zone_act act, u64 from, u64 to)
{
	if (act == NOF_ZONE_ACT_WRITE)
		return judge_write(zone, from, to);
	return has_happened(zone, act) ? NOF_ZONE_DONE : NOF_ZONE_AGAIN;
}
