// SPDX-License-Identifier: GPL-2.0-only
#include <linux/kernel.h>
#include <linux/nvme.h>
#include <linux/string.h>
#include "wire/ana_log.h"

/* The part of the log that is still to be parsed */
struct rest {
	const u8	*p;
	size_t		len;
};

static bool log_take(struct rest *rest, void *to, size_t len)
{
	if (rest->len < len)
		return false;
	memcpy(to, rest->p, len);
	rest->p += len;
	rest->len -= len;
	return true;
}

static bool skip_nsids(struct rest *rest, u32 n)
{
	if (rest->len / sizeof(__le32) < n)
		return false;
	rest->p += (size_t)n * sizeof(__le32);
	rest->len -= (size_t)n * sizeof(__le32);
	return true;
}

static bool known_state(u8 state)
{
	return (state >= NVME_ANA_OPTIMIZED && state <= NVME_ANA_PERSISTENT_LOSS) || state == NVME_ANA_CHANGE;
}

static const char *check_group(struct rest *rest, u32 anagrpmax, struct nvme_ana_group_desc *desc)
{
	u32 id;

	if (!log_take(rest, desc, sizeof(*desc)))
		return "ANA log: group descriptor cut off";
	if (!skip_nsids(rest, le32_to_cpu(desc->nnsids)))
		return "ANA log: namespace list cut off";
	id = le32_to_cpu(desc->grpid);
	if (!id || id > anagrpmax)
		return "ANA log: group identifier out of range";
	desc->state &= 0xf;
	if (!known_state(desc->state))
		return "ANA log: unknown state";
	return NULL;
}

static const char *log_walk(struct rest rest, u32 ngrps, u32 anagrpmax,
			    void (*group)(void *arg, u32 grp, u8 state), void *arg)
{
	struct nvme_ana_group_desc desc;
	const char *why;

	while (ngrps--) {
		why = check_group(&rest, anagrpmax, &desc);
		if (why)
			return why;
		if (group)
			group(arg, le32_to_cpu(desc.grpid), desc.state);
	}
	return NULL;
}

const char *nof_ana_parse(const void *buf, size_t len, u32 nanagrpid, u32 anagrpmax,
			  void (*group)(void *arg, u32 grp, u8 state), void *arg)
{
	struct rest rest = { .p = buf, .len = len };
	struct nvme_ana_rsp_hdr header;
	const char *why;
	u32 ngrps;

	if (!log_take(&rest, &header, sizeof(header)))
		return "ANA log: header cut off";
	ngrps = le16_to_cpu(header.ngrps);
	if (ngrps > nanagrpid)
		return "ANA log: more groups than the controller has";
	why = log_walk(rest, ngrps, anagrpmax, NULL, NULL);
	if (!why)
		why = log_walk(rest, ngrps, anagrpmax, group, arg);
	return why;
}
