// SPDX-License-Identifier: GPL-2.0-only
/* What namespaces are: Identify Namespace and identification descriptors, of several at a time. */
#include <linux/slab.h>
#include <linux/string.h>
#include "core/ctrl.h"
#include "core/lifecycle.h"
#include "core/subsys.h"
#include "wire/identify.h"
#include "wire/status.h"

enum { CMD_NS, CMD_DESCS, NR_CMDS };
static_assert(NR_CMDS == NOF_FORMATS_CMDS);

int nof_formats_alloc(struct nof_formats *f, u32 max)
{
	u32 i;

	memset(f, 0, sizeof(*f));
	f->max = max;
	f->ns = kcalloc(max, sizeof(*f->ns), GFP_KERNEL);
	for (i = 0; f->ns && i < max * NR_CMDS; i++) {
		f->pages[i] = kmalloc(NVME_IDENTIFY_DATA_SIZE, GFP_KERNEL);
		if (!f->pages[i])
			break;
	}
	if (i == max * NR_CMDS)
		return 0;
	nof_formats_free(f);
	return -ENOMEM;
}

void nof_formats_free(struct nof_formats *f)
{
	u32 i;

	for (i = 0; i < f->max * NR_CMDS; i++)
		kfree(f->pages[i]);
	kfree(f->ns);
}

/* A status that may be another one the next time says nothing about the namespace */
static bool transient(int status)
{
	return status && !(status & NVME_STATUS_DNR);
}

static bool is_zoned(const struct nof_ns *ns)
{
	return ns->format.ids.csi == NVME_CSI_ZNS;
}

/*
 * Without the list, and with a list that is refused, the identifiers of Identify Namespace have to do. Controllers from
 * before NVMe 1.3 do not know it, and not all say so for good.
 */
static void decode_descs(struct nof_ns *ns, const struct nof_identify *cmd)
{
	if (cmd->ret)
		return;
	ns->why = nof_identify_descs(cmd->buf, NVME_IDENTIFY_DATA_SIZE, &ns->format.ids);
	if (!ns->why && is_zoned(ns) && !IS_ENABLED(CONFIG_BLK_DEV_ZONED))
		ns->why = "it is zoned, and this kernel has no zoned block devices";
}

/* Identify Namespace is of the NVM command set: its answer, an error included, means nothing for any other one. */
static bool decode_generic(struct nof_ns *ns, const struct nof_identify *cmd)
{
	struct nof_ns_ids ids = {};

	if (cmd->ret || nof_identify_descs(cmd->buf, NVME_IDENTIFY_DATA_SIZE, &ids) || !nof_ids_are_generic(&ids))
		return false;
	ns->status = 0;
	ns->not_now = false;
	ns->why = NULL;
	ns->format = (struct nof_ns_format){ .ids = ids };
	return true;
}

static void decode(struct nof_ctrl *ctrl, struct nof_ns *ns, const struct nof_identify *cmds)
{
	int status = cmds[CMD_NS].ret;

	if (decode_generic(ns, &cmds[CMD_DESCS]))
		return;
	/* it may be of another command set, which is not known yet, whatever this answer was */
	if (transient(cmds[CMD_DESCS].ret) && ctrl->vs >= NVME_VS(1, 3, 0))
		status = cmds[CMD_DESCS].ret;
	ns->status = status;
	ns->not_now = transient(status);
	ns->why = NULL;
	if (ns->not_now)
		return;
	ns->why = status ? nof_status_name(status) : nof_identify_ns(cmds[CMD_NS].buf, &ns->format);
	if (ns->why)
		return;
	if (!(ctrl->ident.oncs & NVME_CTRL_ONCS_RESERVATIONS))
		ns->format.rescap = 0;
	decode_descs(ns, &cmds[CMD_DESCS]);
}

/* What Identify Namespace of its command set adds */
static void decode_guard(struct nof_ctrl *ctrl, struct nof_ns *ns, const struct nof_identify *cmd)
{
	ns->not_now = transient(cmd->ret);
	ns->status = ns->not_now ? cmd->ret : 0;
	if (ns->not_now)
		return;
	/* a controller without extended formats has guards of 16 bits only, and need not know the command */
	if (cmd->ret || !(ctrl->ident.ctratt & NVME_CTRL_ATTR_ELBAS))
		memset(cmd->buf, 0, sizeof(struct nvme_id_ns_nvm));
	ns->why = nof_identify_guard(cmd->buf, &ns->format);
}

static void decode_zns(struct nof_ns *ns, const struct nof_identify *cmd)
{
	ns->status = cmd->ret;
	ns->not_now = transient(cmd->ret);
	if (!ns->not_now)
		ns->why = cmd->ret ? nof_status_name(cmd->ret) : nof_identify_zns(cmd->buf, &ns->format);
}

/* Only Identify Namespace of the NVM command set tells which guard protection information of this size has. */
static bool has_guard(const struct nof_ns *ns)
{
	return ns->format.pi_bytes > NOF_PI_BYTES_16B;
}

static bool is_generic(const struct nof_ns *ns)
{
	return nof_format_is_generic(&ns->format);
}

/*
 * Fills @cmds with Identify commands of @cns and @csi, one for each namespace that @have selects, with the page of its
 * Identify Namespace as the buffer. Returns how many; @which has their indices in @f->ns.
 */
static u32 ask_also(struct nof_formats *f, bool (*have)(const struct nof_ns *), u8 cns, u8 csi,
		    struct nof_identify *cmds, u8 *which)
{
	u32 i, nr = 0;

	for (i = 0; i < f->nr; i++) {
		const struct nof_ns *ns = &f->ns[i];

		if (ns->not_now || ns->why || !have(ns))
			continue;
		cmds[nr] = (struct nof_identify){
			.nsid = ns->nsid, .cns = cns, .csi = csi, .buf = f->pages[i * NR_CMDS],
		};
		which[nr++] = i;
	}
	return nr;
}

static int read_guards(struct nof_ctrl *ctrl, struct nof_formats *f)
{
	struct nof_identify cmds[NOF_FORMATS_MAX];
	u8 which[NOF_FORMATS_MAX];
	u32 i, nr = ask_also(f, has_guard, NVME_ID_CNS_CS_NS, NVME_CSI_NVM, cmds, which);
	int ret = nr ? nof_identify_many(ctrl, cmds, nr) : 0;

	for (i = 0; !ret && i < nr; i++)
		decode_guard(ctrl, &f->ns[which[i]], &cmds[i]);
	return ret;
}

/* Identify Namespace, and Identify Controller once, of the zoned command set */
static int read_zns(struct nof_ctrl *ctrl, struct nof_formats *f)
{
	struct nof_identify cmds[NOF_FORMATS_MAX + 1];
	u8 zoned[NOF_FORMATS_MAX];
	u32 i, nr = ask_also(f, is_zoned, NVME_ID_CNS_CS_NS, NVME_CSI_ZNS, cmds, zoned);
	int ret;

	if (!nr)
		return 0;
	cmds[nr] = (struct nof_identify){
		.cns = NVME_ID_CNS_CS_CTRL, .csi = NVME_CSI_ZNS, .buf = f->pages[zoned[0] * NR_CMDS + CMD_DESCS],
	};
	ret = nof_identify_many(ctrl, cmds, nr + 1);
	if (ret)
		return ret;
	if (!cmds[nr].ret)
		WRITE_ONCE(ctrl->max_append, nof_identify_zasl(cmds[nr].buf, NVME_CAP_MPSMIN(ctrl->cap)));
	for (i = 0; i < nr; i++)
		decode_zns(&f->ns[zoned[i]], &cmds[i]);
	return 0;
}

static void decode_indep(struct nof_ctrl *ctrl, struct nof_ns *ns, const struct nof_identify *cmd)
{
	bool ready = true;

	ns->status = cmd->ret;
	ns->not_now = transient(cmd->ret);
	if (ns->not_now)
		return;
	ns->why = cmd->ret ? "of a command set that the driver does not know, and Identify of CNS 08h failed" :
			     nof_identify_indep(cmd->buf, ctrl->ident.anagrpmax, &ns->format, &ready);
	if (!(ctrl->ident.oncs & NVME_CTRL_ONCS_RESERVATIONS))
		ns->format.rescap = 0;
	ns->not_now = !ns->why && !ready;
	if (ns->not_now)
		ns->why = "is not ready";
}

/* Without an answer no command of the set is harmless; with none for now, those that were are. */
static int read_effects(struct nof_ctrl *ctrl, u8 csi, struct nvme_effects_log *log)
{
	int ret = 1;

	if (ctrl->ident.lpa & NVME_CTRL_LPA_CMD_EFFECTS_LOG)
		ret = nof_get_effects(ctrl, csi, log);
	if (ret < 0 || transient(ret))
		return min(ret, 0);
	mutex_lock(&ctrl->subsys->lock);
	nof_ctrl_set_effects(ctrl, csi, ret ? NULL : log);
	mutex_unlock(&ctrl->subsys->lock);
	return 0;
}

/* Whether it is the first of its command set among @nr of them */
static bool first_of_set(const struct nof_formats *f, const u8 *which, u32 nr)
{
	u32 i;

	for (i = 0; i < nr; i++)
		if (f->ns[which[i]].format.ids.csi == f->ns[which[nr]].format.ids.csi)
			return false;
	return true;
}

/* Namespaces of command sets that the driver does not know */
static int read_generic(struct nof_ctrl *ctrl, struct nof_formats *f)
{
	struct nof_identify cmds[NOF_FORMATS_MAX];
	u8 which[NOF_FORMATS_MAX];
	u32 i, nr = ask_also(f, is_generic, NVME_ID_CNS_NS_CS_INDEP, 0, cmds, which);
	int ret = nr ? nof_identify_many(ctrl, cmds, nr) : 0;

	for (i = 0; !ret && i < nr; i++) {
		decode_indep(ctrl, &f->ns[which[i]], &cmds[i]);
		if (first_of_set(f, which, i))
			ret = read_effects(ctrl, f->ns[which[i]].format.ids.csi,
					   f->pages[which[i] * NR_CMDS + CMD_DESCS]);
	}
	return ret;
}

int nof_formats_read(struct nof_ctrl *ctrl, struct nof_formats *f)
{
	struct nof_identify cmds[NOF_FORMATS_MAX * NR_CMDS];
	static const u8 cns[NR_CMDS] = { NVME_ID_CNS_NS, NVME_ID_CNS_NS_DESC_LIST };
	u32 i, nr = f->nr * NR_CMDS;
	int ret;

	for (i = 0; i < nr; i++)
		cmds[i] = (struct nof_identify){
			.nsid = f->ns[i / NR_CMDS].nsid,
			.cns = cns[i % NR_CMDS],
			.buf = f->pages[i],
		};
	ret = nof_identify_many(ctrl, cmds, nr);
	for (i = 0; !ret && i < f->nr; i++)
		decode(ctrl, &f->ns[i], cmds + i * NR_CMDS);
	return ret ?: read_guards(ctrl, f) ?: read_zns(ctrl, f) ?: read_generic(ctrl, f);
}
