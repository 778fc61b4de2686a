// SPDX-License-Identifier: GPL-2.0-only
#include "core/event.h"
#include "core/lifecycle.h"
#include "mpath/failover.h"
#include "mpath/head.h"
#include "mpath/path.h"

static void tell(struct work_struct *work)
{
	struct nof_head *head = container_of(work, struct nof_head, failover.work);
	struct nof_failover *f = &head->failover;
	char from[NVMEOF_NAME_MAX + 1];
	u32 moved;
	u64 ns;

	spin_lock_irq(&f->lock);
	/* more have joined: their end brings us back */
	moved = f->pending ? 0 : f->moved;
	if (moved) {
		ns = f->longest_ns;
		strscpy(from, f->from, sizeof(from));
		f->moved = 0;
		f->longest_ns = 0;
	}
	spin_unlock_irq(&f->lock);
	if (moved)
		nof_events->failover(head, from, moved, ns);
}

void nof_failover_init(struct nof_head *head)
{
	spin_lock_init(&head->failover.lock);
	INIT_WORK(&head->failover.work, tell);
}

void nof_failover_exit(struct nof_head *head)
{
	cancel_work_sync(&head->failover.work);
}

void nof_failover_begin(struct nof_request *req, struct nof_path *path)
{
	struct nof_failover *f = &path->head->failover;
	unsigned long flags;

	spin_lock_irqsave(&f->lock, flags);
	if (!req->moved) {
		req->moved = true;
		req->first_ns = req->sent_ns;
		f->pending++;
		f->moved++;
	}
	strscpy(f->from, path->name, sizeof(f->from));
	spin_unlock_irqrestore(&f->lock, flags);
}

void nof_failover_end(struct nof_head *head, struct nof_request *req)
{
	struct nof_failover *f = &head->failover;
	u64 ns = ktime_get_ns() - req->first_ns;
	unsigned long flags;

	req->moved = false;
	spin_lock_irqsave(&f->lock, flags);
	f->longest_ns = max(f->longest_ns, ns);
	if (!--f->pending)
		queue_work(nof_wq, &f->work);
	spin_unlock_irqrestore(&f->lock, flags);
}
