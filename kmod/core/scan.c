// SPDX-License-Identifier: GPL-2.0-only
/* Which namespaces a controller has, and what they are: paths are attached and removed accordingly. */
#include <linux/netlink.h>
#include <linux/random.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include "core/backoff.h"
#include "core/ctrl.h"
#include "core/lifecycle.h"
#include "core/subsys.h"
#include "core/upcalls.h"
#include "core/work.h"

#define NSIDS_PER_PAGE	(NVME_IDENTIFY_DATA_SIZE / sizeof(__le32))
#define RETRY_MAX_MS	30000
/* Namespaces that get no disk are passed over, but not for ever */
#define LEFT_OUT_MAX	65536

/*
 * @formats: those of @list that are looked at together
 * @association: that they were read in, at the earliest
 * @again: a namespace could not be taken in just now
 * @later: or may be some time, and nobody is to wait for it
 */
struct scan {
	__le32			*list;
	struct nof_formats	formats;
	u32			association;
	u32			prev;
	u32			left_out;
	bool			again;
	bool			later;
};

static void scan_refuse(struct nof_ctrl *ctrl, u32 nsid, int err, u16 status, const char *why)
{
	nof_ctrl_note(ctrl, err, status, "namespace %u refused: %s", nsid, why);
	nof_ctrl_event(ctrl, NVMEOF_EVENT_REFUSED, nof_ctrl_state(ctrl));
}

/* Tried again later. A path that is there stays as it is. */
static void not_now(struct nof_ctrl *ctrl, struct scan *scan, const struct nof_ns *ns)
{
	scan->again = true;
	if (nof_paths.keep(ctrl, ns->nsid))
		return;
	nof_ctrl_note(ctrl, -EAGAIN, ns->status, "namespace %u %s; tried again later", ns->nsid,
		      ns->why ?: "cannot be identified");
	nof_ctrl_event(ctrl, NVMEOF_EVENT_REFUSED, nof_ctrl_state(ctrl));
}

static void take_one(struct nof_ctrl *ctrl, struct scan *scan, const struct nof_ns *ns)
{
	enum nof_refusal refusal;
	const char *why;

	if (ns->not_now) {
		not_now(ctrl, scan, ns);
		return;
	}
	/* those before it have taken the room */
	if (!nof_paths.head_allowed(ctrl->subsys, ns->nsid)) {
		scan->left_out++;
		return;
	}
	if (ns->why) {
		scan_refuse(ctrl, ns->nsid, -EINVAL, ns->status, ns->why);
		return;
	}
	refusal = nof_paths.attach(ctrl, ns->nsid, &ns->format, scan->association, &why);
	switch (refusal) {
	case NOF_ATTACHED:
		return;
	case NOF_REFUSED_NO_MEMORY:
		scan->again = true;
		scan_refuse(ctrl, ns->nsid, -ENOMEM, ns->status, why);
		return;
	case NOF_REFUSED_NO_DISK:
	case NOF_REFUSED_BUSY:
	case NOF_REFUSED_TOO_NARROW:
		scan->again = true;
		scan_refuse(ctrl, ns->nsid, -EAGAIN, ns->status, why);
		return;
	case NOF_REFUSED_SIZE:
	case NOF_REFUSED_PI:
		scan->later = true;
		fallthrough;
	default:
		scan_refuse(ctrl, ns->nsid, -EINVAL, ns->status, why);
	}
}

/* What has been collected of the list */
static int take_some(struct nof_ctrl *ctrl, struct scan *scan)
{
	struct nof_formats *f = &scan->formats;
	int ret = f->nr ? nof_formats_read(ctrl, f) : 0;
	u32 i;

	for (i = 0; !ret && i < f->nr; i++) {
		if (nof_ctrl_state(ctrl) != NVMEOF_CTRL_LIVE || READ_ONCE(ctrl->association) != scan->association)
			ret = -ENOTCONN;
		else
			take_one(ctrl, scan, &f->ns[i]);
	}
	f->nr = 0;
	return ret;
}

/* All that follows lies beyond it, too; what stands before is as good as if the list ended here */
static int beyond_nn(struct nof_ctrl *ctrl, u32 nsid)
{
	scan_refuse(ctrl, nsid, -EINVAL, 0, "beyond NN, the highest namespace ID, like all that follow");
	return 1;
}

/*
 * One of the list, which is ascending; that also bounds the loop: a target that repeats itself is cut short.
 * 1 at its end, or a negative errno.
 */
static int collect(struct nof_ctrl *ctrl, struct scan *scan, u32 nsid)
{
	struct nof_formats *f = &scan->formats;

	if (!nsid)
		return 1;
	if (nof_ctrl_state(ctrl) != NVMEOF_CTRL_LIVE)
		return -ENOTCONN;
	/* the last two are none, but stand for all of them */
	if (nsid <= scan->prev || nsid >= NVME_NSID_ALL - 1) {
		nof_ctrl_note(ctrl, -EPROTO, 0, "namespace list is not ascending, or no such IDs, at %u", nsid);
		return -EPROTO;
	}
	if (nsid > ctrl->ident.nn)
		return beyond_nn(ctrl, nsid);
	scan->prev = nsid;
	if (!nof_paths.head_allowed(ctrl->subsys, nsid))
		return ++scan->left_out > LEFT_OUT_MAX ? -E2BIG : 0;
	f->ns[f->nr++].nsid = nsid;
	return f->nr == f->max ? take_some(ctrl, scan) : 0;
}

static int scan_page(struct nof_ctrl *ctrl, struct scan *scan)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < NSIDS_PER_PAGE; i++)
		ret = collect(ctrl, scan, le32_to_cpu(scan->list[i]));
	/* those before a fault of the list, too */
	return take_some(ctrl, scan) ?: ret;
}

static int scan_all(struct nof_ctrl *ctrl, struct scan *scan)
{
	int ret;

	do {
		ret = nof_identify(ctrl, NVME_ID_CNS_NS_ACTIVE_LIST, scan->prev, scan->list);
		if (ret > 0)
			nof_ctrl_note(ctrl, -EIO, ret, "no list of active namespaces");
		if (ret)
			return ret > 0 ? -EIO : ret;
		ret = scan_page(ctrl, scan);
	} while (!ret);
	if (scan->left_out) {
		nof_ctrl_note(ctrl, -E2BIG, 0, "%u namespaces left out: more than max_namespaces of the module, %u",
			      scan->left_out, nof_paths.max_heads());
		nof_ctrl_event(ctrl, NVMEOF_EVENT_REFUSED, nof_ctrl_state(ctrl));
	}
	return min(ret, 0);
}

/* Of an association that may be over. @whole: no namespace is to be tried again. */
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

/* Under scan.lock */
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
	/* only a list read to its end, over one association, tells what is gone */
	if (!ret && (nof_ctrl_state(ctrl) != NVMEOF_CTRL_LIVE || READ_ONCE(ctrl->association) != scan->association))
		ret = -EAGAIN;
	if (ret)
		return ret;
	if (!ctrl->discovery)
		nof_paths.remove_unseen(ctrl);
	/* what went has made room */
	scan->again |= scan->left_out && READ_ONCE(ctrl->subsys->nr_heads) < nof_paths.max_heads();
	ret = count_scan(ctrl, scan->association, !scan->again);
	return scan->again ? -EAGAIN : ret;
}

/*
 * Only while it is live, under the lock of its state, as in nof_scan_start(). When it is connected again it scans
 * anyway. A scan that was asked for meanwhile is queued already, and is not put off.
 */
static void scan_again(struct nof_ctrl *ctrl)
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

int nof_scan(struct nof_ctrl *ctrl)
{
	unsigned int noio = memalloc_noio_save();
	struct scan scan = { .list = kmalloc(NVME_IDENTIFY_DATA_SIZE, GFP_KERNEL) };
	int ret = nof_formats_alloc(&scan.formats, NOF_FORMATS_MAX);

	if (ret || !scan.list) {
		ret = -ENOMEM;
		goto free;
	}
	/* whoever asks by hand may find one going on that waits for the target */
	ret = mutex_lock_killable(&ctrl->scan.lock);
	if (ret)
		goto free;
	ret = scan_locked(ctrl, &scan);
	mutex_unlock(&ctrl->scan.lock);
	if (ret)
		set_bit(NOF_CTRL_MISSED, &ctrl->flags);
	else if (scan.later)
		scan_again(ctrl);
	else
		ctrl->scan.failures = 0;
	nof_mpath.update_expected(ctrl);
	nof_events->scanned(ctrl, ret);
free:
	nof_formats_free(&scan.formats);
	kfree(scan.list);
	memalloc_noio_restore(noio);
	return ret;
}

int nof_scan_confirm(struct nof_ctrl *ctrl)
{
	u32 nr = READ_ONCE(ctrl->nr_paths), association = READ_ONCE(ctrl->association), i;
	struct nof_formats f;
	u32 prev = 0;
	int ret;

	if (!nr)
		return 0;
	ret = nof_formats_alloc(&f, min_t(u32, nr, NOF_FORMATS_MAX));
	if (ret)
		return ret;
	while (!ret && (f.nr = nof_paths.next_nsids(ctrl, prev, f.ns, f.max))) {
		prev = f.ns[f.nr - 1].nsid;
		ret = nof_formats_read(ctrl, &f);
		for (i = 0; !ret && i < f.nr; i++)
			if (!f.ns[i].not_now && !f.ns[i].why)
				nof_paths.confirm(ctrl, f.ns[i].nsid, &f.ns[i].format, association);
	}
	nof_formats_free(&f);
	return ret;
}

/*
 * The changed-namespace log has to be read for the controller to send the next event; the scan finds the changes
 * itself. 0, or a negative errno: it was not read. One that refuses to give it need not be asked again.
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

void nof_scan_work(struct work_struct *work)
{
	struct nof_ctrl *ctrl = container_of(to_delayed_work(work), struct nof_ctrl, scan.work);
	int ret;

	WRITE_ONCE(ctrl->scan.not_before, jiffies + msecs_to_jiffies(NOF_SCAN_SPACING_MS));
	ret = test_bit(NOF_CTRL_AEN, &ctrl->flags) && !ctrl->discovery ? clear_changed_list(ctrl) : 0;
	ret = nof_scan(ctrl) ?: ret;
	if (ret)
		scan_again(ctrl);
}

int nof_ctrl_rescan(struct nof_ctrl *ctrl, struct netlink_ext_ack *extack)
{
	int ret;

	if (nof_ctrl_state(ctrl) != NVMEOF_CTRL_LIVE) {
		NL_SET_ERR_MSG(extack, "the controller is not live; it scans when it is");
		return -ENOTCONN;
	}
	ret = nof_scan(ctrl);
	if (ret == -ENOMEM) {
		NL_SET_ERR_MSG(extack, "out of memory: the scan is incomplete and will be retried");
	} else if (ret == -EAGAIN) {
		NL_SET_ERR_MSG(extack, "a namespace cannot be used yet, see the controller's last error; retried");
	} else if (ret) {
		NL_SET_ERR_MSG(extack, "the scan is incomplete, see the controller's last error");
	}
	/* who asks again and again does not outrun the back-off */
	if ((ret == -EAGAIN || ret == -ENOMEM) && !delayed_work_pending(&ctrl->scan.work))
		nof_scan_start(ctrl);
	return ret > 0 ? -EIO : ret;
}
