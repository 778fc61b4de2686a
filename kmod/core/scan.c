// SPDX-License-Identifier: GPL-2.0-only
/*
 * Namespace scan: lists the active namespaces, identifies them (Identify Namespace and identification descriptors,
 * several at a time), and attaches and removes paths accordingly.
 */
#include <linux/netlink.h>
#include <linux/random.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "core/backoff.h"
#include "core/ctrl.h"
#include "core/lifecycle.h"
#include "core/subsys.h"
#include "core/upcalls.h"
#include "core/work.h"
#include "wire/identify.h"
#include "wire/status.h"

/* Commands for each namespace */
enum { CMD_NS, CMD_DESCS, NR_CMDS };

#define FORMATS_MAX	14	/* times NR_CMDS: fits the admin slots of the driver */

struct formats {
	u32		max;
	u32		nr;
	struct nof_ns	*ns;
	void		*pages[FORMATS_MAX * NR_CMDS];
};

static void formats_free(struct formats *f)
{
	u32 i;

	for (i = 0; i < f->max * NR_CMDS; i++)
		kfree(f->pages[i]);
	kfree(f->ns);
	memset(f, 0, sizeof(*f));
}

/* Memory to read @max namespaces at a time. Returns 0 or -ENOMEM. */
static int formats_alloc(struct formats *f, u32 max)
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
	formats_free(f);
	return -ENOMEM;
}

/* A status without Do Not Retry may change, so it says nothing about the namespace. */
static bool status_is_transient(int status)
{
	return status && !(status & NVME_STATUS_DNR);
}

static bool is_zoned(const struct nof_ns *ns)
{
	return ns->format.ids.csi == NVME_CSI_ZNS;
}

/*
 * If the controller does not return the list, the identifiers of Identify Namespace are used. Controllers before NVMe
 * 1.3 do not support the list, and some refuse it without Do Not Retry.
 */
static void decode_descs(struct nof_ns *ns, const struct nof_identify *cmd)
{
	if (cmd->ret)
		return;
	ns->why = nof_identify_descs(cmd->buf, NVME_IDENTIFY_DATA_SIZE, &ns->format.ids);
	if (!ns->why && is_zoned(ns) && !IS_ENABLED(CONFIG_BLK_DEV_ZONED))
		ns->why = "zoned namespace, but this kernel is built without CONFIG_BLK_DEV_ZONED";
}

/*
 * Identify Namespace (CNS 00h) is specific to the NVM command set. Its result, even an error, is ignored for namespaces
 * of a command set that the driver does not know. Returns true for such a namespace.
 */
static bool decode_generic(struct nof_ns *ns, const struct nof_identify *cmd)
{
	struct nof_ns_ids ids = {};

	if (cmd->ret || nof_identify_descs(cmd->buf, NVME_IDENTIFY_DATA_SIZE, &ids) || !nof_ids_are_generic(&ids))
		return false;
	ns->status = 0;
	ns->temporary = false;
	ns->why = NULL;
	ns->format = (struct nof_ns_format){ .ids = ids };
	return true;
}

static void decode_ns(struct nof_ctrl *ctrl, struct nof_ns *ns, const struct nof_identify *cmds)
{
	int status = cmds[CMD_NS].ret;

	if (decode_generic(ns, &cmds[CMD_DESCS]))
		return;
	/* without the descriptors the command set is unknown, and the other result not conclusive */
	if (status_is_transient(cmds[CMD_DESCS].ret) && ctrl->vs >= NVME_VS(1, 3, 0))
		status = cmds[CMD_DESCS].ret;
	ns->status = status;
	ns->temporary = status_is_transient(status);
	ns->why = NULL;
	if (ns->temporary)
		return;
	ns->why = status ? nof_status_name(status) : nof_identify_ns(cmds[CMD_NS].buf, &ns->format);
	if (ns->why)
		return;
	if (!(ctrl->ident.oncs & NVME_CTRL_ONCS_RESERVATIONS))
		ns->format.rescap = 0;
	decode_descs(ns, &cmds[CMD_DESCS]);
}

static void decode_guard(struct nof_ctrl *ctrl, struct nof_ns *ns, const struct nof_identify *cmd)
{
	ns->temporary = status_is_transient(cmd->ret);
	ns->status = ns->temporary ? cmd->ret : 0;
	if (ns->temporary)
		return;
	/* without extended LBA formats (ELBAS) all guards have 16 bits, and the command may be unsupported */
	if (cmd->ret || !(ctrl->ident.ctratt & NVME_CTRL_ATTR_ELBAS))
		memset(cmd->buf, 0, sizeof(struct nvme_id_ns_nvm));
	ns->why = nof_identify_guard(cmd->buf, &ns->format);
}

static void decode_zns(struct nof_ns *ns, const struct nof_identify *cmd)
{
	ns->status = cmd->ret;
	ns->temporary = status_is_transient(cmd->ret);
	if (!ns->temporary)
		ns->why = cmd->ret ? nof_status_name(cmd->ret) : nof_identify_zns(cmd->buf, &ns->format);
}

/* The guard type of larger protection information is reported only by Identify of CNS 05h, NVM command set. */
static bool has_guard(const struct nof_ns *ns)
{
	return ns->format.pi_bytes > NOF_PI_BYTES_16B;
}

static bool is_generic(const struct nof_ns *ns)
{
	return nof_format_is_generic(&ns->format);
}

/*
 * Fills @cmds with Identify commands of @cns and @csi, one for each namespace that @have selects, in the buffer of its
 * Identify Namespace. Returns their number; @which receives the indices in @f->ns.
 */
static u32 identify_fill(struct formats *f, bool (*have)(const struct nof_ns *), u8 cns, u8 csi,
			 struct nof_identify *cmds, u8 *which)
{
	u32 i, nr = 0;

	for (i = 0; i < f->nr; i++) {
		const struct nof_ns *ns = &f->ns[i];

		if (ns->temporary || ns->why || !have(ns))
			continue;
		cmds[nr] = (struct nof_identify){
			.nsid = ns->nsid, .cns = cns, .csi = csi, .buf = f->pages[i * NR_CMDS],
		};
		which[nr++] = i;
	}
	return nr;
}

static int read_guards(struct nof_ctrl *ctrl, struct formats *f)
{
	struct nof_identify cmds[FORMATS_MAX];
	u8 which[FORMATS_MAX];
	u32 i, nr = identify_fill(f, has_guard, NVME_ID_CNS_CS_NS, NVME_CSI_NVM, cmds, which);
	int ret = nr ? nof_identify_many(ctrl, cmds, nr) : 0;

	for (i = 0; !ret && i < nr; i++)
		decode_guard(ctrl, &f->ns[which[i]], &cmds[i]);
	return ret;
}

/* Zoned command set: Identify Namespace of each, and Identify Controller once */
static int read_zns(struct nof_ctrl *ctrl, struct formats *f)
{
	struct nof_identify cmds[FORMATS_MAX + 1];
	u8 zoned[FORMATS_MAX];
	u32 i, nr = identify_fill(f, is_zoned, NVME_ID_CNS_CS_NS, NVME_CSI_ZNS, cmds, zoned);
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
	ns->temporary = status_is_transient(cmd->ret);
	if (ns->temporary)
		return;
	ns->why = cmd->ret ? "unknown command set, and Identify Namespace of CNS 08h failed" :
			     nof_identify_indep(cmd->buf, ctrl->ident.anagrpmax, &ns->format, &ready);
	if (!(ctrl->ident.oncs & NVME_CTRL_ONCS_RESERVATIONS))
		ns->format.rescap = 0;
	ns->temporary = !ns->why && !ready;
	if (ns->temporary)
		ns->why = "is not ready";
}

/*
 * Without the log, no command of the set is open to unprivileged callers. After a transient error the effects read
 * before remain in force.
 */
static int read_effects(struct nof_ctrl *ctrl, u8 csi, struct nvme_effects_log *log)
{
	bool due, has_log = ctrl->ident.lpa & NVME_CTRL_LPA_CMD_EFFECTS_LOG;
	u32 association = READ_ONCE(ctrl->association);
	int ret = 0;

	mutex_lock(&ctrl->subsys->lock);
	due = nof_ctrl_effects_due(ctrl, csi, association);
	mutex_unlock(&ctrl->subsys->lock);
	if (!due)
		return 0;
	if (has_log)
		ret = nof_get_effects(ctrl, csi, log);
	if (ret < 0 || status_is_transient(ret))
		return min(ret, 0);
	mutex_lock(&ctrl->subsys->lock);
	nof_ctrl_set_effects(ctrl, csi, association, has_log && !ret ? log : NULL);
	mutex_unlock(&ctrl->subsys->lock);
	return 0;
}

/* True if none of the @nr namespaces before it in @which has the same command set */
static bool first_of_set(const struct formats *f, const u8 *which, u32 nr)
{
	u32 i;

	for (i = 0; i < nr; i++)
		if (f->ns[which[i]].format.ids.csi == f->ns[which[nr]].format.ids.csi)
			return false;
	return true;
}

/* Namespaces of command sets that the driver does not know */
static int read_generic(struct nof_ctrl *ctrl, struct formats *f)
{
	struct nof_identify cmds[FORMATS_MAX];
	u8 which[FORMATS_MAX];
	u32 i, nr = identify_fill(f, is_generic, NVME_ID_CNS_NS_CS_INDEP, 0, cmds, which);
	int ret = nr ? nof_identify_many(ctrl, cmds, nr) : 0;

	for (i = 0; !ret && i < nr; i++) {
		decode_indep(ctrl, &f->ns[which[i]], &cmds[i]);
		if (first_of_set(f, which, i))
			ret = read_effects(ctrl, f->ns[which[i]].format.ids.csi,
					   f->pages[which[i] * NR_CMDS + CMD_DESCS]);
	}
	return ret;
}

/* Identifies f->ns[0..nr), whose nsid is set, in parallel. 0, or a negative errno: a command ended without a status. */
static int formats_read(struct nof_ctrl *ctrl, struct formats *f)
{
	struct nof_identify cmds[FORMATS_MAX * NR_CMDS];
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
		decode_ns(ctrl, &f->ns[i], cmds + i * NR_CMDS);
	return ret ?: read_guards(ctrl, f) ?: read_zns(ctrl, f) ?: read_generic(ctrl, f);
}

#define NSIDS_PER_PAGE	(NVME_IDENTIFY_DATA_SIZE / sizeof(__le32))
#define RETRY_MAX_MS	30000
/* Most namespaces that are skipped, for lack of a disk or because they are refused; bounds a scan */
#define LEFT_OUT_MAX	65536
/* Most events of refused namespaces of a scan; a target could otherwise flood all listeners */
#define REFUSED_EVENTS	32

/*
 * @formats: namespaces of @list that are identified together
 * @association: ctrl->association when the scan began
 * @refused: namespaces that were refused or deferred
 * @incomplete: a namespace could not be attached for now: the scan is incomplete and repeated
 * @repeat: a namespace may become attachable: the scan is complete but repeated
 */
struct scan {
	__le32			*list;
	struct formats		formats;
	u32			association;
	u32			prev;
	u32			left_out;
	u32			refused;
	bool			incomplete;
	bool			repeat;
};

static void scan_refuse(struct nof_ctrl *ctrl, struct scan *scan, u32 nsid, int err, u16 status, const char *why)
{
	if (++scan->refused > REFUSED_EVENTS)
		return;
	nof_ctrl_note(ctrl, err, status, "namespace %u refused: %s", nsid, why);
	nof_ctrl_event(ctrl, NVMEOF_EVENT_REFUSED, nof_ctrl_state(ctrl));
}

/* Leaves an existing path as it is and requests another scan */
static void scan_defer(struct nof_ctrl *ctrl, struct scan *scan, const struct nof_ns *ns)
{
	scan->incomplete = true;
	if (nof_paths.keep(ctrl, ns->nsid) || ++scan->refused > REFUSED_EVENTS)
		return;
	nof_ctrl_note(ctrl, -EAGAIN, ns->status, "namespace %u %s; tried again later", ns->nsid,
		      ns->why ?: "cannot be identified");
	nof_ctrl_event(ctrl, NVMEOF_EVENT_REFUSED, nof_ctrl_state(ctrl));
}

static void scan_attach(struct nof_ctrl *ctrl, struct scan *scan, const struct nof_ns *ns)
{
	const char *why = ns->why;
	int err = -EINVAL;

	if (ns->temporary) {
		scan_defer(ctrl, scan, ns);
		return;
	}
	/* namespaces before it in the batch may have reached max_namespaces */
	if (!nof_paths.head_allowed(ctrl->subsys, ns->nsid)) {
		scan->left_out++;
		return;
	}
	if (why) {
		scan_refuse(ctrl, scan, ns->nsid, err, ns->status, why);
		return;
	}
	switch (nof_paths.attach(ctrl, ns->nsid, &ns->format, scan->association, &why)) {
	case NOF_ATTACHED:
		return;
	case NOF_REFUSED_NO_MEMORY:
		scan->incomplete = true;
		err = -ENOMEM;
		break;
	case NOF_REFUSED_NO_DISK:
	case NOF_REFUSED_BUSY:
	case NOF_REFUSED_TOO_NARROW:
		scan->incomplete = true;
		err = -EAGAIN;
		break;
	case NOF_REFUSED_SIZE:
	case NOF_REFUSED_PI:
		scan->repeat = true;
		break;
	default:
		break;
	}
	scan_refuse(ctrl, scan, ns->nsid, err, ns->status, why);
}

static int scan_attach_batch(struct nof_ctrl *ctrl, struct scan *scan)
{
	struct formats *f = &scan->formats;
	int ret = f->nr ? formats_read(ctrl, f) : 0;
	u32 i;

	for (i = 0; !ret && i < f->nr; i++) {
		if (nof_ctrl_state(ctrl) != NVMEOF_CTRL_LIVE || READ_ONCE(ctrl->association) != scan->association)
			ret = -ENOTCONN;
		else
			scan_attach(ctrl, scan, &f->ns[i]);
	}
	f->nr = 0;
	return ret ?: scan->refused > LEFT_OUT_MAX ? -E2BIG : 0;
}

/* The list is ascending, so all that follow are beyond NN, too. Ends the list; the namespaces before are valid. */
static int scan_end_beyond_nn(struct nof_ctrl *ctrl, struct scan *scan, u32 nsid)
{
	scan_refuse(ctrl, scan, nsid, -EINVAL, 0, "beyond NN, the highest namespace ID, like all that follow");
	return 1;
}

/*
 * Adds one entry of the list. The list must be ascending, which also bounds the scan if a target repeats entries.
 * Returns 0, 1 at the end of the list, or a negative errno.
 */
static int scan_add_nsid(struct nof_ctrl *ctrl, struct scan *scan, u32 nsid)
{
	struct formats *f = &scan->formats;

	if (!nsid)
		return 1;
	if (nof_ctrl_state(ctrl) != NVMEOF_CTRL_LIVE)
		return -ENOTCONN;
	/* FFFFFFFEh and FFFFFFFFh do not identify a namespace */
	if (nsid <= scan->prev || nsid >= NVME_NSID_ALL - 1) {
		nof_ctrl_note(ctrl, -EPROTO, 0,
			      "active namespace list is not ascending, or has an invalid ID, at namespace %u", nsid);
		return -EPROTO;
	}
	if (nsid > ctrl->ident.nn)
		return scan_end_beyond_nn(ctrl, scan, nsid);
	scan->prev = nsid;
	if (!nof_paths.head_allowed(ctrl->subsys, nsid))
		return ++scan->left_out > LEFT_OUT_MAX ? -E2BIG : 0;
	f->ns[f->nr++].nsid = nsid;
	return f->nr == f->max ? scan_attach_batch(ctrl, scan) : 0;
}

static int scan_page(struct nof_ctrl *ctrl, struct scan *scan)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < NSIDS_PER_PAGE; i++)
		ret = scan_add_nsid(ctrl, scan, le32_to_cpu(scan->list[i]));
	/* also attaches the namespaces before a fault in the list */
	return scan_attach_batch(ctrl, scan) ?: ret;
}

static int scan_all(struct nof_ctrl *ctrl, struct scan *scan)
{
	int ret;

	do {
		ret = nof_identify(ctrl, NVME_ID_CNS_NS_ACTIVE_LIST, scan->prev, scan->list);
		if (ret > 0)
			nof_ctrl_note(ctrl, -EIO, ret, "no list of active namespaces");
		ret = ret > 0 ? -EIO : ret ?: scan_page(ctrl, scan);
	} while (!ret);
	if (scan->refused > REFUSED_EVENTS) {
		nof_ctrl_note(ctrl, -E2BIG, 0, "%u namespaces refused or deferred, the last %u without an event",
			      scan->refused, scan->refused - REFUSED_EVENTS);
		nof_ctrl_event(ctrl, NVMEOF_EVENT_REFUSED, nof_ctrl_state(ctrl));
	}
	if (scan->left_out) {
		nof_ctrl_note(ctrl, -E2BIG, 0, "%u namespaces skipped: module parameter max_namespaces is %u",
			      scan->left_out, nof_paths.max_heads());
		nof_ctrl_event(ctrl, NVMEOF_EVENT_REFUSED, nof_ctrl_state(ctrl));
	}
	return min(ret, 0);
}

/* Counts the scan unless its association has ended (-EAGAIN). @whole: no namespace has to be retried. */
static int count_scan(struct nof_ctrl *ctrl, u32 association, bool whole)
{
	unsigned long flags;
	bool same;

	spin_lock_irqsave(&ctrl->state_lock, flags);
	same = ctrl->state == NVMEOF_CTRL_LIVE && ctrl->association == association;
	if (same) {
		WRITE_ONCE(ctrl->scan.done, ctrl->scan.done + whole);
		set_bit(NOF_CTRL_EVER_SCANNED, &ctrl->flags);
	}
	spin_unlock_irqrestore(&ctrl->state_lock, flags);
	return same ? 0 : -EAGAIN;
}

/* Caller holds scan.lock */
static int scan_locked(struct nof_ctrl *ctrl, struct scan *scan)
{
	int ret = 0;

	scan->association = READ_ONCE(ctrl->association);
	if (nof_ctrl_state(ctrl) != NVMEOF_CTRL_LIVE)
		return -ENOTCONN;
	if (!ctrl->discovery) {
		nof_paths.scan_begin(ctrl);
		ret = scan_all(ctrl, scan);
	}
	/* only a list that was read to its end within one association shows which namespaces are gone */
	if (!ret && (nof_ctrl_state(ctrl) != NVMEOF_CTRL_LIVE || READ_ONCE(ctrl->association) != scan->association))
		ret = -EAGAIN;
	if (ret)
		return ret;
	if (!ctrl->discovery)
		nof_paths.remove_unseen(ctrl);
	/* the removal may have made room for namespaces that were left out */
	scan->incomplete |= scan->left_out && READ_ONCE(ctrl->subsys->nr_heads) < nof_paths.max_heads();
	ret = count_scan(ctrl, scan->association, !scan->incomplete);
	return scan->incomplete ? -EAGAIN : ret;
}

/*
 * Only while the controller is live, under state_lock, as in nof_scan_start(): a reconnect scans anyway. Does not
 * postpone a scan that is already queued.
 */
static void scan_retry_later(struct nof_ctrl *ctrl)
{
	unsigned long flags;
	u32 delay;

	spin_lock_irqsave(&ctrl->state_lock, flags);
	if (ctrl->state == NVMEOF_CTRL_LIVE) {
		delay = nof_backoff_ms(ctrl->scan.failures++, RETRY_MAX_MS, get_random_u32());
		queue_delayed_work(nof_wq, &ctrl->scan.work, msecs_to_jiffies(delay));
	}
	spin_unlock_irqrestore(&ctrl->state_lock, flags);
}

static int scan_namespaces(struct nof_ctrl *ctrl)
{
	unsigned int noio = memalloc_noio_save();
	struct scan scan = { .list = kmalloc(NVME_IDENTIFY_DATA_SIZE, GFP_KERNEL) };
	int ret = formats_alloc(&scan.formats, FORMATS_MAX);

	if (ret || !scan.list) {
		ret = -ENOMEM;
		goto free;
	}
	/* killable: a user's rescan may have to wait for a scan that waits for the target */
	ret = mutex_lock_killable(&ctrl->scan.lock);
	if (ret)
		goto free;
	ret = scan_locked(ctrl, &scan);
	mutex_unlock(&ctrl->scan.lock);
	if (ret)
		set_bit(NOF_CTRL_PATHS_OVERDUE, &ctrl->flags);
	else if (scan.repeat)
		scan_retry_later(ctrl);
	else
		ctrl->scan.failures = 0;
	nof_mpath.update_expected(ctrl);
	nof_events->scanned(ctrl, ret);
free:
	formats_free(&scan.formats);
	kfree(scan.list);
	memalloc_noio_restore(noio);
	return ret;
}

int nof_scan_confirm(struct nof_ctrl *ctrl)
{
	u32 nr = READ_ONCE(ctrl->nr_paths), association = READ_ONCE(ctrl->association), i;
	struct formats f;
	u32 prev = 0;
	int ret;

	if (!nr)
		return 0;
	ret = formats_alloc(&f, min_t(u32, nr, FORMATS_MAX));
	if (ret)
		return ret;
	while (!ret && (f.nr = nof_paths.next_nsids(ctrl, prev, f.ns, f.max))) {
		prev = f.ns[f.nr - 1].nsid;
		ret = formats_read(ctrl, &f);
		for (i = 0; !ret && i < f.nr; i++)
			if (!f.ns[i].temporary && !f.ns[i].why)
				nof_paths.confirm(ctrl, f.ns[i].nsid, &f.ns[i].format, association);
	}
	formats_free(&f);
	return ret;
}

/*
 * Reads the Changed Namespace List, without which the controller sends no further event; the scan finds the changes
 * itself. Returns 0, also if the controller refuses the log, or a negative errno if the log must be read again.
 */
static int clear_changed_list(struct nof_ctrl *ctrl)
{
	void *log = kmalloc(NVME_IDENTIFY_DATA_SIZE, GFP_NOIO);
	int ret = -ENOMEM;

	if (log)
		ret = nof_get_log(ctrl, NVME_LOG_CHANGED_NS, 0, 0, log, NVME_IDENTIFY_DATA_SIZE);
	kfree(log);
	return min(ret, 0);
}

static void scan_work(struct work_struct *work)
{
	struct nof_ctrl *ctrl = container_of(to_delayed_work(work), struct nof_ctrl, scan.work);
	int ret;

	WRITE_ONCE(ctrl->scan.not_before, jiffies + msecs_to_jiffies(NOF_SCAN_SPACING_MS));
	ret = test_bit(NOF_CTRL_AEN, &ctrl->flags) && !ctrl->discovery ? clear_changed_list(ctrl) : 0;
	ret = scan_namespaces(ctrl) ?: ret;
	if (ret)
		scan_retry_later(ctrl);
}

int nof_ctrl_rescan(struct nof_ctrl *ctrl, struct netlink_ext_ack *extack)
{
	int ret;

	if (nof_ctrl_state(ctrl) != NVMEOF_CTRL_LIVE) {
		NL_SET_ERR_MSG(extack, "the controller is not live; namespaces are scanned when it becomes live");
		return -ENOTCONN;
	}
	ret = scan_namespaces(ctrl);
	if (ret == -ENOMEM) {
		NL_SET_ERR_MSG(extack, "out of memory: the scan is incomplete and will be retried");
	} else if (ret == -EAGAIN) {
		NL_SET_ERR_MSG(extack, "a namespace cannot be used yet, see the controller's last error; retried");
	} else if (ret) {
		NL_SET_ERR_MSG(extack, "the scan is incomplete, see the controller's last error");
	}
	/* do not bypass the back-off of a retry that is already pending */
	if ((ret == -EAGAIN || ret == -ENOMEM) && !delayed_work_pending(&ctrl->scan.work))
		nof_scan_start(ctrl);
	return ret > 0 ? -EIO : ret;
}

void nof_scan_init(struct nof_ctrl *ctrl)
{
	mutex_init(&ctrl->scan.lock);
	INIT_DELAYED_WORK(&ctrl->scan.work, scan_work);
	ctrl->scan.not_before = jiffies;
}
