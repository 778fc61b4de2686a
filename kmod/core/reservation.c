// SPDX-License-Identifier: GPL-2.0-only
#include <linux/kernel.h>
#include <linux/string.h>
#include "core/reservation.h"

#define RCSTS_HOLDS	BIT(0)

typedef const struct nvme_registered_ctrl_ext entry;

static bool same_host(entry *e, const u8 *hostid)
{
	return !memcmp(e->hostid, hostid, sizeof(e->hostid));
}

static u16 count(const struct nvme_reservation_status_ext *report)
{
	return report->regctl[0] | report->regctl[1] << 8;
}

bool nof_resv_whole(const struct nof_resv *resv, u32 len)
{
	return NOF_RESV_BYTES((u32)resv->nr) <= len;
}

/* A host has one registration: what two of its controllers say of it may not differ */
static const char *read_own(entry *e, struct nof_resv *out)
{
	bool holds = e->rcsts & RCSTS_HOLDS;
	u64 key = le64_to_cpu(e->rkey);

	if (out->registered && (out->key != key || out->holds != holds))
		return "report of reservations: a host is registered with two keys";
	out->registered = true;
	out->key = key;
	out->holds = holds;
	return NULL;
}

static const char *read_holder(entry *e, struct nof_resv *out)
{
	u64 key = le64_to_cpu(e->rkey);

	if (!(e->rcsts & RCSTS_HOLDS))
		return NULL;
	if (!out->type)
		return "report of reservations: held, and of no type";
	if (out->type >= NOF_RESV_TYPE_ALL)
		return NULL;
	if (out->holder && out->holder != key)
		return "report of reservations: held by two, and not of a type that can be";
	out->holder = key;
	return NULL;
}

const char *nof_resv_read(const struct nvme_reservation_status_ext *report, u32 len, const u8 *hostid,
			  struct nof_resv *out)
{
	const char *why = NULL;
	u16 i;

	memset(out, 0, sizeof(*out));
	out->gen = le32_to_cpu(report->gen);
	out->type = report->rtype;
	out->nr = count(report);
	if (out->type > NOF_RESV_TYPE_MAX)
		return "report of reservations: a type that there is not";
	if (out->nr > NOF_RESV_MOST)
		return "report of reservations: more registrants than this host keeps account of";
	if (out->type && !out->nr)
		return "report of reservations: held, and nobody is registered";
	if (!nof_resv_whole(out, len))
		return NULL;
	for (i = 0; !why && i < out->nr; i++) {
		entry *e = &report->regctl_eds[i];

		if (!e->rkey)
			return "report of reservations: a registrant without a key";
		if (same_host(e, hostid))
			why = read_own(e, out);
		if (!why)
			why = read_holder(e, out);
	}
	if (!why && out->type && out->type < NOF_RESV_TYPE_ALL && !out->holder)
		why = "report of reservations: held by nobody who is registered";
	return why;
}

/* Another entry of its host stands before it */
static bool seen(const struct nvme_reservation_status_ext *report, u32 nr)
{
	u32 i;

	for (i = 0; i < nr; i++)
		if (same_host(&report->regctl_eds[i], report->regctl_eds[nr].hostid))
			return true;
	return false;
}

u32 nof_resv_keys(const struct nvme_reservation_status_ext *report, u32 nr, u64 *keys, u32 room)
{
	u32 i, found = 0;

	for (i = 0; i < nr; i++) {
		if (seen(report, i))
			continue;
		if (found < room)
			keys[found] = le64_to_cpu(report->regctl_eds[i].rkey);
		found++;
	}
	return found;
}

bool nof_resv_has(const struct nvme_reservation_status_ext *report, u32 nr, const u8 *hostid, u64 key)
{
	u32 i;

	for (i = 0; i < nr; i++)
		if (!same_host(&report->regctl_eds[i], hostid) && le64_to_cpu(report->regctl_eds[i].rkey) == key)
			return true;
	return false;
}

/*
 * Who is registered may register with the same key, who holds a reservation may acquire it, and to release one that is
 * not held is no error. A key that has changed, a registration that has gone is a conflict the second time.
 */
bool nof_resv_repeatable(enum nof_resv_act act, bool ignore_key)
{
	switch (act) {
	case NOF_RESV_REGISTER:
	case NOF_RESV_ACQUIRE:
	case NOF_RESV_RELEASE:
		return true;
	case NOF_RESV_REPLACE:
		return ignore_key;
	default:
		return false;
	}
}

enum nof_resv_verdict nof_resv_judge(enum nof_resv_act act, const struct nof_resv *now, bool victim, u64 key, u8 type)
{
	bool ours = now->registered;

	switch (act) {
	case NOF_RESV_REPLACE:
		if (!ours)
			return NOF_RESV_UNTOLD;
		return now->key == key ? NOF_RESV_DONE : NOF_RESV_AGAIN;
	case NOF_RESV_UNREGISTER:
		return ours ? NOF_RESV_AGAIN : NOF_RESV_DONE;
	case NOF_RESV_CLEAR:
		if (ours)
			return NOF_RESV_AGAIN;
		return now->nr ? NOF_RESV_UNTOLD : NOF_RESV_DONE;
	case NOF_RESV_PREEMPT:
		if (!ours)
			return NOF_RESV_UNTOLD;
		if (victim)
			return NOF_RESV_AGAIN;
		/* it may be another that has preempted, and holds it now */
		return now->holds && now->type == type ? NOF_RESV_DONE : NOF_RESV_UNTOLD;
	default:
		return NOF_RESV_AGAIN;
	}
}
