// SPDX-License-Identifier: GPL-2.0-only
/* All queues of a controller: starting, mapping to hardware contexts, taking down. */
#include <linux/cpumask.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/srcu.h>
#include "core/auth.h"
#include "core/ctrl.h"
#include "core/lifecycle.h"
#include "core/queue.h"
#include "core/state.h"
#include "core/subsys.h"
#include "core/transport.h"
#include "core/upcalls.h"
#include "core/work.h"

/*
 * Queues may be added only while the connect attempt is in progress. To end it, change the state, then take
 * queues.lock.
 */
static bool attempt_wanted(struct nof_ctrl *ctrl)
{
	lockdep_assert_held(&ctrl->queues.lock);
	return nof_state_connects(nof_ctrl_state(ctrl)) && !test_bit(NOF_CTRL_ATTEMPT_FAILED, &ctrl->flags);
}

/* Log text for a failed connection */
static const char *no_connection(int err)
{
	switch (err) {
	case -ECONNREFUSED:	return "connection refused, no service listens on this port";
	case -ETIMEDOUT:	return "timed out, no answer from this address";
	case -ENETDOWN:
	case -ENETUNREACH:
	case -EHOSTDOWN:
	case -EHOSTUNREACH:	return "no route to the target, or it is not on the network";
	case -ECONNRESET:	return "connection reset by the target";
	case -EPROTO:		return "the peer does not speak NVMe";
	case -EADDRNOTAVAIL:	return "host_traddr is not an address of this host";
	case -ENODEV:		return "no such interface (host_iface, or scope of an address), or no RDMA device";
	case -EPERM:
	case -EACCES:		return "blocked by a firewall on this host";
	default:		return "cannot connect";
	}
}

/* Establishes the connection, sends Connect, and authenticates. After this the queue carries commands. */
static int queues_start_queue(struct nof_queue *queue)
{
	int ret = queue->ctrl->transport->start_queue(queue);
	bool plain;

	if (ret) {
		/* nof_queue_error() has logged the reason */
		if (ret != -ECANCELED && !test_bit(NOF_Q_ERROR, &queue->flags))
			nof_ctrl_note(queue->ctrl, ret, 0, "queue %u: %s", queue->qid, no_connection(ret));
		return ret;
	}
	set_bit(NOF_Q_LIVE, &queue->flags);
	/* nof_queue_close() sets DEAD before it clears LIVE: if it ran in between, clear LIVE here */
	smp_mb__after_atomic();
	if (test_bit(NOF_Q_DEAD, &queue->flags)) {
		clear_bit(NOF_Q_LIVE, &queue->flags);
		return -ECANCELED;
	}
	plain = nof_auth_concatenates(queue);
	ret = nof_fabrics_connect(queue) ?: nof_auth_queue(queue);
	/* the association in plain text carries no other command */
	if (!ret && !plain)
		set_bit(NOF_Q_CONNECTED, &queue->flags);
	if (!ret && queue->type == NOF_QUEUE_POLL)
		set_bit(NOF_Q_POLLED, &queue->flags);
	return ret;
}

static void start_work(struct work_struct *work)
{
	struct nof_queue *queue = container_of(work, struct nof_queue, start_work);

	unsigned int noio = memalloc_noio_save();

	queue->start_err = queues_start_queue(queue);
	memalloc_noio_restore(noio);
}

int nof_queues_start_admin(struct nof_ctrl *ctrl, unsigned long deadline)
{
	struct nof_queue *queue = nof_queue_alloc(ctrl, 0, NOF_QUEUE_ADMIN, NOF_ADMIN_DEPTH, NOF_ADMIN_DEPTH - 1);
	bool wanted;

	if (!queue)
		return -ENOMEM;
	queue->deadline = deadline;
	mutex_lock(&ctrl->queues.lock);
	wanted = attempt_wanted(ctrl);
	if (wanted)
		rcu_assign_pointer(ctrl->queues.admin, queue);
	mutex_unlock(&ctrl->queues.lock);
	if (!wanted) {
		nof_queue_free(queue);
		return -ECANCELED;
	}
	return queues_start_queue(queue);
}

/*
 * Zero based; the same number of SQs and CQs. The controller may allocate fewer than requested (NVMe Base 2.0,
 * 5.27.1.5); more are not used.
 */
static int ask_for_queues(struct nof_ctrl *ctrl, u32 *granted)
{
	u32 want = ctrl->queues.nr_default + ctrl->queues.nr_poll;
	u32 dw11 = (want - 1) | (want - 1) << 16, result;
	int ret = nof_set_features(ctrl, NVME_FEAT_NUM_QUEUES, dw11, &result);

	if (ret) {
		nof_ctrl_note(ctrl, ret > 0 ? -EIO : ret, ret > 0 ? ret : 0, "target grants no I/O queues");
		return ret > 0 ? -EIO : ret;
	}
	*granted = min3(want, (result & 0xffff) + 1, (result >> 16) + 1);
	return 0;
}

/* More queues than hardware contexts would be unused */
static void queues_plan(struct nof_ctrl *ctrl)
{
	ctrl->queues.nr_default = min(ctrl->opts.nr_io_queues, ctrl->subsys->nr_default);
	ctrl->queues.nr_poll = min(ctrl->opts.nr_poll_queues, ctrl->subsys->nr_poll);
}

/* Poll queues are reduced first: a path needs at least one default queue. */
static void queues_share(struct nof_ctrl *ctrl, u32 granted)
{
	ctrl->queues.nr_granted = granted;
	ctrl->queues.nr_default = min(granted, ctrl->queues.nr_default);
	ctrl->queues.nr_poll = min(granted - ctrl->queues.nr_default, ctrl->queues.nr_poll);
}

static struct nof_queue *new_io_queue(struct nof_ctrl *ctrl, u32 i, unsigned long deadline)
{
	u32 limit = min_t(u32, ctrl->sqsize - 1, ctrl->ident.maxcmd ?: U32_MAX);
	bool poll = i >= ctrl->queues.nr_default;
	struct nof_queue *queue;

	queue = nof_queue_alloc(ctrl, i + 1, poll ? NOF_QUEUE_POLL : NOF_QUEUE_DEFAULT, ctrl->sqsize, limit);
	if (!queue)
		return NULL;
	queue->deadline = deadline;
	set_bit(NOF_Q_STARTING, &queue->flags);
	queue->cpu = cpumask_local_spread(poll ? i - ctrl->queues.nr_default : i, NUMA_NO_NODE);
	INIT_WORK(&queue->start_work, start_work);
	return queue;
}

static int alloc_io(struct nof_ctrl *ctrl, unsigned long deadline)
{
	u32 nr = ctrl->queues.nr_default + ctrl->queues.nr_poll, made = 0;
	struct nof_queue **io = kcalloc(nr, sizeof(*io), GFP_KERNEL);
	int ret = -ENOMEM;

	/* without queues.lock: listings take it under subsys->lock */
	while (io && made < nr && (io[made] = new_io_queue(ctrl, made, deadline)))
		made++;
	mutex_lock(&ctrl->queues.lock);
	if (io && made == nr)
		ret = attempt_wanted(ctrl) ? 0 : -ECANCELED;
	if (!ret) {
		ctrl->queues.io = io;
		ctrl->queues.nr_io = nr;
	}
	mutex_unlock(&ctrl->queues.lock);
	if (!ret)
		return 0;
	while (made)
		nof_queue_free(io[--made]);
	kfree(io);
	return ret;
}

/* From here on an error of this queue fails the controller. Returns 0, or the reason why the queue is unusable. */
static int start_ends(struct nof_queue *queue)
{
	clear_bit(NOF_Q_STARTING, &queue->flags);
	/* pairs with nof_queue_error(): either it sees the bit cleared, or NOF_Q_ERROR is seen here */
	smp_mb__after_atomic();
	if (queue->start_err)
		return queue->start_err;
	return test_bit(NOF_Q_ERROR, &queue->flags) ? -ECONNRESET : 0;
}

/*
 * Moves the queues that have started, @kept of them, to the front and reduces the controller to these; the caller frees
 * the rest. Returns 0, -ECANCELED if the attempt has ended, -EKEYREJECTED if a queue could not be authenticated, or, if
 * no default queue has started, the error of the first queue that failed by itself.
 */
static int queues_keep_started(struct nof_ctrl *ctrl, u32 *kept)
{
	bool rejected = false;
	u32 i, nr_default = 0;
	int ret = 0, err;

	mutex_lock(&ctrl->queues.stop_lock);
	mutex_lock(&ctrl->queues.lock);
	for (*kept = i = 0; i < ctrl->queues.nr_io; i++) {
		err = start_ends(ctrl->queues.io[i]);
		if (err && (!ret || ret == -ECANCELED))
			ret = err;
		rejected |= err == -EKEYREJECTED;
		if (err)
			continue;
		nr_default += ctrl->queues.io[i]->type == NOF_QUEUE_DEFAULT;
		swap(ctrl->queues.io[*kept], ctrl->queues.io[i]);
		(*kept)++;
	}
	if (!attempt_wanted(ctrl)) {
		ret = ret ?: -ECANCELED;
	} else if (rejected) {
		ret = -EKEYREJECTED;
	} else if (nr_default) {
		ret = 0;
		ctrl->queues.nr_io = *kept;
		WRITE_ONCE(ctrl->queues.nr_default, nr_default);
		WRITE_ONCE(ctrl->queues.nr_poll, *kept - nr_default);
	}
	mutex_unlock(&ctrl->queues.lock);
	mutex_unlock(&ctrl->queues.stop_lock);
	return ret;
}

/* Frees queues that did not start, after queues_keep_started() */
static void queues_drop_failed(struct nof_ctrl *ctrl, u32 from, u32 to)
{
	struct nof_completed done;
	u32 i;

	if (from == to)
		return;
	nof_completed_init(&done, NULL);
	for (i = from; i < to; i++)
		nof_queue_close(ctrl->queues.io[i]);
	synchronize_srcu(&ctrl->subsys->srcu);
	for (i = from; i < to; i++)
		nof_queue_stop(ctrl->queues.io[i]);
	for (i = from; i < to; i++) {
		nof_queue_cancel(ctrl->queues.io[i], &done);
		nof_queue_free(ctrl->queues.io[i]);
	}
	nof_completed_end(&done);
}

int nof_queues_start_io(struct nof_ctrl *ctrl, unsigned long deadline)
{
	u32 granted, i, nr, kept;
	int ret = nof_mpath.tags_init(ctrl->subsys, &ctrl->opts);

	if (ret)
		return ret;
	queues_plan(ctrl);
	ret = ask_for_queues(ctrl, &granted);
	if (ret)
		return ret;
	queues_share(ctrl, granted);
	ret = alloc_io(ctrl, deadline);
	if (ret)
		return ret;
	nr = ctrl->queues.nr_io;
	/* No lock: these works end by themselves when their queue is closed, which does not wait for them */
	for (i = 0; i < nr; i++)
		queue_work(nof_queue_wq, &ctrl->queues.io[i]->start_work);
	for (i = 0; i < nr; i++)
		flush_work(&ctrl->queues.io[i]->start_work);
	ret = queues_keep_started(ctrl, &kept);
	if (ret)
		return ret;
	queues_drop_failed(ctrl, kept, nr);
	ctrl->queues.nr_missing = nr - kept;
	return 0;
}

/* Contexts share queues if the controller has fewer; polled ones use default queues if it has no poll queues */
int nof_queues_map(struct nof_ctrl *ctrl)
{
	struct nof_subsys *s = ctrl->subsys;
	u32 nr = s->nr_default + s->nr_poll, h;
	struct nof_ctrl_map *map = kzalloc(struct_size(map, queues, nr), GFP_KERNEL);
	const struct nof_ctrl_queues *q = &ctrl->queues;

	if (!map)
		return -ENOMEM;
	map->nr = nr;
	for (h = 0; h < nr; h++)
		if (h >= s->nr_default && q->nr_poll)
			map->queues[h] = q->io[q->nr_default + (h - s->nr_default) % q->nr_poll];
		else
			map->queues[h] = q->io[h % q->nr_default];
	mutex_lock(&ctrl->queues.lock);
	rcu_assign_pointer(ctrl->queues.map, map);
	mutex_unlock(&ctrl->queues.lock);
	return 0;
}

/*
 * Returns the @i-th queue, or NULL after the last. The admin queue is last: an admin command may depend on I/O, never
 * the reverse. Caller holds queues.lock or stop_lock.
 */
static struct nof_queue *queues_nth(struct nof_ctrl *ctrl, u32 i)
{
	if (i < ctrl->queues.nr_io)
		return ctrl->queues.io[i];
	if (i == ctrl->queues.nr_io)
		return rcu_dereference_protected(ctrl->queues.admin, true);
	return NULL;
}

/*
 * Records, before the connections are closed, when the peer was last heard from on any of them, and whether it owes a
 * response. Records nothing if no connection reports this.
 */
static void queues_note_peer(struct nof_ctrl *ctrl)
{
	u32 quiet = U32_MAX, i;
	struct nof_queue *queue;
	bool ack_due = false;

	lockdep_assert_held(&ctrl->queues.lock);
	/* without queues the transport may be NULL: its module is being exchanged */
	for (i = 0; (queue = queues_nth(ctrl, i)); i++) {
		struct nof_vital v = {};

		if (!ctrl->transport->vital || !test_bit(NOF_Q_CONNECTED, &queue->flags) ||
		    test_bit(NOF_Q_DEAD, &queue->flags))
			continue;
		ctrl->transport->vital(queue, &v);
		quiet = min(quiet, v.quiet_ms);
		ack_due |= v.ack_due;
	}
	if (quiet == U32_MAX)
		return;
	ctrl->end.quiet_ms = quiet;
	ctrl->end.cut_off = ack_due && quiet >= NOF_DEF_STALL_TMO_MS;
}

/*
 * Takes all queues down and cancels outstanding commands. Idempotent; waits for submitters and the local network stack,
 * not for the peer. The caller has made attempt_wanted() false, so that no queue is added afterwards.
 */
void nof_queues_cancel(struct nof_ctrl *ctrl)
{
	struct nof_completed done;
	struct nof_queue *queue;
	u32 i;

	nof_completed_init(&done, NULL);
	mutex_lock(&ctrl->queues.stop_lock);
	mutex_lock(&ctrl->queues.lock);
	queues_note_peer(ctrl);
	for (i = 0; (queue = queues_nth(ctrl, i)); i++)
		nof_queue_close(queue);
	mutex_unlock(&ctrl->queues.lock);
	/* expedited: requests wait for failover to another path */
	if (i)
		synchronize_srcu_expedited(&ctrl->subsys->srcu);
	/* stop_lock keeps the queues from being freed; listings, which need queues.lock only, do not wait */
	for (i = 0; (queue = queues_nth(ctrl, i)); i++)
		nof_queue_stop(queue);
	for (i = 0; (queue = queues_nth(ctrl, i)); i++)
		nof_queue_cancel(queue, &done);
	mutex_unlock(&ctrl->queues.stop_lock);
	/* nothing more is sent in this association */
	nof_mpath.queues_cancelled(ctrl);
	nof_completed_end(&done);
}

/* Called after nof_queues_cancel(), with no start work running. */
void nof_queues_free(struct nof_ctrl *ctrl)
{
	struct nof_queue **io, *admin;
	struct nof_ctrl_map *map;
	u32 i, nr;

	mutex_lock(&ctrl->queues.stop_lock);
	mutex_lock(&ctrl->queues.lock);
	map = rcu_replace_pointer(ctrl->queues.map, NULL, true);
	admin = rcu_replace_pointer(ctrl->queues.admin, NULL, true);
	io = ctrl->queues.io;
	nr = ctrl->queues.nr_io;
	ctrl->queues.io = NULL;
	ctrl->queues.nr_io = 0;
	mutex_unlock(&ctrl->queues.lock);
	mutex_unlock(&ctrl->queues.stop_lock);

	synchronize_srcu(&ctrl->subsys->srcu);
	wait_event(ctrl->slots.wq, !atomic_read(&ctrl->slots.users) && !atomic_read(&ctrl->queues.users));
	for (i = 0; i < nr; i++)
		nof_queue_free(io[i]);
	if (admin)
		nof_queue_free(admin);
	kfree(io);
	kfree(map);
}

u32 nof_queues_inflight(struct nof_ctrl *ctrl, bool io_only)
{
	struct nof_queue *queue;
	u32 i, sum = 0;

	mutex_lock(&ctrl->queues.lock);
	for (i = 0; (queue = queues_nth(ctrl, i)); i++)
		if (queue->qid || !io_only)
			sum += atomic_read(&queue->inflight);
	mutex_unlock(&ctrl->queues.lock);
	return sum;
}

u32 nof_queues_detached(struct nof_ctrl *ctrl)
{
	u32 i, sum = 0;

	mutex_lock(&ctrl->queues.lock);
	for (i = 0; i < ctrl->queues.nr_io; i++)
		sum += atomic_read(&ctrl->queues.io[i]->nr_detached);
	mutex_unlock(&ctrl->queues.lock);
	return sum;
}

void nof_queues_info(struct nof_ctrl *ctrl, struct nof_transport_info *info)
{
	struct nof_queue *queue;
	u32 i;

	mutex_lock(&ctrl->queues.lock);
	for (i = 0; (queue = queues_nth(ctrl, i)); i++)
		if (test_bit(NOF_Q_CONNECTED, &queue->flags) && ctrl->transport->info)
			ctrl->transport->info(queue, info);
	mutex_unlock(&ctrl->queues.lock);
}

u32 nof_queues_detached_ms(struct nof_ctrl *ctrl)
{
	u32 i, ms = 0;

	mutex_lock(&ctrl->queues.lock);
	for (i = 0; i < ctrl->queues.nr_io; i++)
		ms = max(ms, nof_queue_detached_ms(ctrl->queues.io[i]));
	mutex_unlock(&ctrl->queues.lock);
	return ms;
}

static u32 queue_count(const struct nof_queue *queue, bool (*is)(const struct nof_slot *slot))
{
	u32 i, n = 0;

	for (i = 0; i < queue->nr_slots; i++)
		n += READ_ONCE(queue->slots[i].cmd) && is(&queue->slots[i]);
	return n;
}

/* Once the I/O queues are mapped, they hold only requests and placeholders */
u32 nof_queues_count(struct nof_ctrl *ctrl, bool (*is)(const struct nof_slot *slot))
{
	u32 i, n = 0;

	mutex_lock(&ctrl->queues.lock);
	for (i = 0; rcu_access_pointer(ctrl->queues.map) && i < ctrl->queues.nr_io; i++)
		if (atomic_read(&ctrl->queues.io[i]->inflight))
			n += queue_count(ctrl->queues.io[i], is);
	mutex_unlock(&ctrl->queues.lock);
	return n;
}

bool nof_slot_writes(const struct nof_slot *slot)
{
	u8 opcode = READ_ONCE(slot->opcode);

	return !READ_ONCE(slot->detached) && opcode != nvme_cmd_read && opcode != nvme_cmd_compare &&
	       opcode != nvme_cmd_flush;
}

struct nof_queue **nof_queues_get(struct nof_ctrl *ctrl, u32 *nr)
{
	struct nof_queue **io = NULL;

	mutex_lock(&ctrl->queues.lock);
	/* before that, queues_keep_started() may still move or free queues */
	if (rcu_access_pointer(ctrl->queues.map)) {
		atomic_inc(&ctrl->queues.users);
		io = ctrl->queues.io;
		*nr = ctrl->queues.nr_io;
	}
	mutex_unlock(&ctrl->queues.lock);
	return io;
}

void nof_queues_put(struct nof_ctrl *ctrl)
{
	if (atomic_dec_and_test(&ctrl->queues.users))
		wake_up(&ctrl->slots.wq);
}

static void flush_queue(struct nof_queue *queue, struct nof_completed *done)
{
	if (!nof_queue_live(queue))
		return;
	queue->ctrl->transport->commit(queue);
	if (test_bit(NOF_Q_POLLED, &queue->flags))
		queue->ctrl->transport->poll(queue, done);
}

void nof_queues_flush(struct nof_ctrl *ctrl)
{
	struct nof_completed done;
	struct nof_queue **io;
	u32 i, nr;
	int idx;

	io = nof_queues_get(ctrl, &nr);
	if (!io)
		return;
	nof_completed_init(&done, NULL);
	idx = srcu_read_lock(&ctrl->subsys->srcu);
	for (i = 0; i < nr; i++)
		flush_queue(io[i], &done);
	srcu_read_unlock(&ctrl->subsys->srcu, idx);
	nof_queues_put(ctrl);
	nof_completed_end(&done);
}

bool nof_queues_progressed(struct nof_ctrl *ctrl, enum nof_watcher who)
{
	struct nof_queue *queue;
	bool busy = false, was;
	u32 i;

	mutex_lock(&ctrl->queues.lock);
	for (i = 0; (queue = queues_nth(ctrl, i)); i++) {
		was = test_and_clear_bit(who, &queue->progress);
		/* a completed Keep Alive is no progress for a deletion, which waits for I/O */
		if (queue->qid || who != NOF_WATCH_DELETE)
			busy |= was;
	}
	mutex_unlock(&ctrl->queues.lock);
	return busy;
}

u32 nof_ctrl_inflight(struct nof_ctrl *ctrl)
{
	return nof_queues_inflight(ctrl, true);
}
