// SPDX-License-Identifier: GPL-2.0-only
#include <linux/kernel.h>
#include <linux/string.h>
#include "wire/reservation.h"

#define RCSTS_HOLDS	BIT(0)

typedef const struct nvme_registered_ctrl_ext entry;

static bool same_host(entry *e, const u8 *hostid)
{
	return !memcmp(e->hostid, hostid, sizeof(e->hostid));
}

static u16 report_count(const struct nvme_reservation_status_ext *report)
{
	return report->regctl[0] | report->regctl[1] << 8;
}

bool nof_resv_is_complete(const struct nof_resv *resv, u32 len)
{
	return NOF_RESV_BYTES((u32)resv->nr) <= len;
}

/* A host has one registration: the entries of its controllers must agree. */
static const char *read_own(entry *e, struct nof_resv *out)
{
	bool holds = e->rcsts & RCSTS_HOLDS;
	u64 key = le64_to_cpu(e->rkey);

	if (out->registered && (out->key != key || out->holds != holds))
		return "reservation report: entries of one host differ";
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
		return "reservation report: holder without a reservation type";
	if (out->type >= NOF_RESV_TYPE_ALL)
		return NULL;
	if (out->holder && out->holder != key)
		return "reservation report: two holders of a type with a single holder";
	out->holder = key;
	return NULL;
}

const char *nof_resv_decode(const struct nvme_reservation_status_ext *report, u32 len, const u8 *hostid,
			    struct nof_resv *out)
{
	const char *why = NULL;
	u16 i;

	memset(out, 0, sizeof(*out));
	out->gen = le32_to_cpu(report->gen);
	out->type = report->rtype;
	out->nr = report_count(report);
	if (out->type > NOF_RESV_TYPE_MAX)
		return "reservation report: invalid reservation type";
	if (out->nr > NOF_RESV_MAX_ENTRIES)
		return "reservation report: more registrants than supported";
	if (out->type && !out->nr)
		return "reservation report: reservation without registrants";
	if (!nof_resv_is_complete(out, len))
		return NULL;
	for (i = 0; !why && i < out->nr; i++) {
		entry *e = &report->regctl_eds[i];

		if (!e->rkey)
			return "reservation report: registrant with key 0";
		if (same_host(e, hostid))
			why = read_own(e, out);
		if (!why)
			why = read_holder(e, out);
	}
	if (!why && out->type && out->type < NOF_RESV_TYPE_ALL && !out->holder)
		why = "reservation report: holder is not registered";
	return why;
}

/* True if an earlier entry belongs to the same host */
static bool host_seen_before(const struct nvme_reservation_status_ext *report, u32 nr)
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
		if (host_seen_before(report, i))
			continue;
		if (found < room)
			keys[found] = le64_to_cpu(report->regctl_eds[i].rkey);
		found++;
	}
	return found;
}

bool nof_resv_has_registrant(const struct nvme_reservation_status_ext *report, u32 nr, const u8 *hostid, u64 key)
{
	u32 i;

	for (i = 0; i < nr; i++)
		if (!same_host(&report->regctl_eds[i], hostid) &&
		    (!key || le64_to_cpu(report->regctl_eds[i].rkey) == key))
			return true;
	return false;
}

/* No change between the reports: the command was not executed, or was refused and will be refused again */
static bool resv_unchanged(const struct nof_resv *before, const struct nof_resv *now)
{
	return before && before->gen == now->gen && before->type == now->type && before->holder == now->holder &&
	       before->registered == now->registered && before->key == now->key && before->holds == now->holds;
}

/* Registered with the same key in both reports: only another command of this host could have restored it */
static bool still_registered(const struct nof_resv *before, const struct nof_resv *now)
{
	return before && before->registered && now->registered && before->key == now->key;
}

/* A reservation still held was not released: only this host could have acquired it again */
static enum nof_resv_verdict judge_release(const struct nof_resv *before, const struct nof_resv *now)
{
	if (!now->holds)
		return NOF_RESV_DONE;
	return still_registered(before, now) && before->holds && before->type == now->type ? NOF_RESV_AGAIN :
											     NOF_RESV_UNKNOWN;
}

/* Preempting this key preempts the reservation, not only registrations (NVMe Base 2.0, 8.19.7) */
static bool preempts_holder(const struct nof_resv *resv, u64 key)
{
	return resv->type && resv->holder == key;
}

/*
 * Done if the key is gone and, if it was the holder's key, this host holds the reservation. Otherwise another host may
 * have preempted first.
 */
static enum nof_resv_verdict judge_preempt(const struct nof_resv *before, const struct nof_resv *now, bool victim,
					   u64 key, u8 type)
{
	if (!now->registered || victim)
		return NOF_RESV_UNKNOWN;
	if (now->holds && now->type == type)
		return NOF_RESV_DONE;
	return before && !preempts_holder(before, key) && before->type == now->type && before->holder == now->holder ?
		NOF_RESV_DONE : NOF_RESV_UNKNOWN;
}

enum nof_resv_verdict nof_resv_judge(enum nof_resv_act act, const struct nof_resv *before, const struct nof_resv *now,
				     bool victim, u64 key, u8 type)
{
	/* another registrant may have acquired the reservation again, which does not change the generation */
	if (act == NOF_RESV_RELEASE && now->holds && now->type >= NOF_RESV_TYPE_ALL)
		return NOF_RESV_UNKNOWN;
	if (resv_unchanged(before, now))
		return NOF_RESV_AGAIN;
	switch (act) {
	case NOF_RESV_REGISTER:
	case NOF_RESV_REPLACE:
		if (now->registered && now->key == key)
			return NOF_RESV_DONE;
		break;
	case NOF_RESV_UNREGISTER:
		if (!now->registered)
			return NOF_RESV_DONE;
		break;
	case NOF_RESV_CLEAR:
		if (!now->nr)
			return NOF_RESV_DONE;
		break;
	case NOF_RESV_ACQUIRE:
		if (now->holds && now->type == type)
			return NOF_RESV_DONE;
		break;
	case NOF_RESV_RELEASE:
		return judge_release(before, now);
	case NOF_RESV_PREEMPT:
		return judge_preempt(before, now, victim, key, type);
	}
	/*
	 * Each of these commands changes this host's own registration or reservation. If the host is no longer
	 * registered, it may have been preempted after the command was executed: a retry would undo that.
	 */
	return still_registered(before, now) ? NOF_RESV_AGAIN : NOF_RESV_UNKNOWN;
}
