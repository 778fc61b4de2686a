// SPDX-License-Identifier: GPL-2.0-only
#include <linux/slab.h>
#include "core/trace.h"
#include "core/upcalls.h"
#include "core/work.h"
#include "mpath/failover_stats.h"
#include "mpath/head.h"
#include "mpath/path.h"
#include "mpath/request.h"

/* Moves the counters of a completed failover to @copy. False if none: more requests may have joined meanwhile. */
static bool failover_take_over(struct nof_failovers *all, struct nof_failover *copy)
{
	struct nof_failover *f, *next;
	bool found = false;

	spin_lock_irq(&all->lock);
	list_for_each_entry_safe(f, next, &all->list, entry) {
		if (f->pending)
			continue;
		if (f->moved && !found) {
			*copy = *f;
			f->moved = 0;
			f->longest_ns = 0;
			found = true;
		}
		if (f->orphan && !f->moved) {
			list_del(&f->entry);
			kfree(f);
		}
	}
	spin_unlock_irq(&all->lock);
	return found;
}

static void failover_tell(struct work_struct *work)
{
	struct nof_head *head = container_of(work, struct nof_head, failovers.work);
	struct nof_failover f;

	while (failover_take_over(&head->failovers, &f)) {
		trace_nof_failover(head, f.from, f.moved, f.longest_ns);
		nof_events->failover(head, f.from, f.moved, f.longest_ns);
	}
}

void nof_failovers_init(struct nof_head *head)
{
	spin_lock_init(&head->failovers.lock);
	INIT_LIST_HEAD(&head->failovers.list);
	INIT_WORK(&head->failovers.work, failover_tell);
}

void nof_failovers_exit(struct nof_head *head)
{
	/* not flushed: a scan ahead of it on its workqueue may wait for a lock that the caller holds */
	cancel_work_sync(&head->failovers.work);
	failover_tell(&head->failovers.work);
}

void nof_failover_add(struct nof_path *path)
{
	struct nof_failovers *all = &path->head->failovers;
	struct nof_failover *f = path->failover;

	strscpy(f->from, path->name, sizeof(f->from));
	spin_lock_irq(&all->lock);
	list_add_tail(&f->entry, &all->list);
	spin_unlock_irq(&all->lock);
}

void nof_failover_del(struct nof_path *path)
{
	struct nof_failovers *all = &path->head->failovers;
	struct nof_failover *f = path->failover;
	unsigned long flags;

	spin_lock_irqsave(&all->lock, flags);
	/* the work frees it after its last event */
	f->orphan = f->pending || f->moved;
	if (!f->orphan)
		list_del(&f->entry);
	else
		f = NULL;
	spin_unlock_irqrestore(&all->lock, flags);
	kfree(f);
}

void nof_failover_begin(struct nof_request *req, struct nof_path *path)
{
	struct nof_failovers *all = &path->head->failovers;
	unsigned long flags;

	if (req->failover)
		return;
	req->failover = path->failover;
	req->first_ns = req->sent_ns;
	spin_lock_irqsave(&all->lock, flags);
	path->failover->pending++;
	path->failover->moved++;
	spin_unlock_irqrestore(&all->lock, flags);
}

void nof_failover_end(struct nof_head *head, struct nof_past *past)
{
	u64 ns = ktime_get_ns() - past->first_ns;
	struct nof_failover *f = past->failover;
	unsigned long flags;

	past->failover = NULL;
	spin_lock_irqsave(&head->failovers.lock, flags);
	f->longest_ns = max(f->longest_ns, ns);
	if (!--f->pending)
		queue_work(nof_wq, &head->failovers.work);
	spin_unlock_irqrestore(&head->failovers.lock, flags);
}
