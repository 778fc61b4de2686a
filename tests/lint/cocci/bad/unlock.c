// SPDX-License-Identifier: LGPL-2.1-or-later
int early_return(struct nof_queue *q)
{
	mutex_lock(&q->lock);	/* BAD */
	if (!q->slots)
		return -EINVAL;
	mutex_unlock(&q->lock);
	return 0;
}

void by_goto(struct nof_queue *q)
{
	unsigned long flags;

	spin_lock_irqsave(&q->lock, flags);	/* BAD */
	if (!q->slots)
		goto out;
	q->size = 1;
	spin_unlock_irqrestore(&q->lock, flags);
out:
	wake_up(&q->wait);
}

void to_the_end(struct nof_queue *q)
{
	spin_lock_irq(&q->lock);	/* BAD */
	if (q->slots)
		spin_unlock_irq(&q->lock);
}

void good(struct nof_queue *q)
{
	mutex_lock(&q->lock);
	if (!q->slots) {
		mutex_unlock(&q->lock);
		return;
	}
	mutex_unlock(&q->lock);
}

int good_labels(struct nof_queue *q)
{
	int ret = -EINVAL;

	mutex_lock(&q->lock);
	if (!q->slots)
		goto unlock;
	ret = 0;
unlock:
	mutex_unlock(&q->lock);
	return ret;
}

void queue_begin(struct nof_queue *q)
{
	mutex_lock(&q->lock);
}

bool tried(struct nof_queue *q)
{
	if (!mutex_trylock(&q->lock))	/* BAD */
		return false;
	if (!q->slots)
		return false;
	mutex_unlock(&q->lock);
	return true;
}

int reader(struct nof_queue *q)
{
	rcu_read_lock();	/* BAD */
	if (!q->slots)
		return 0;
	rcu_read_unlock();
	return 1;
}

u32 sleeping_reader(struct nof_head *head)
{
	struct nof_path_set *set;
	int idx = srcu_read_lock(&head->subsys->srcu);	/* BAD */

	set = srcu_dereference(head->set, &head->subsys->srcu);
	if (!set)
		return 0;
	srcu_read_unlock(&head->subsys->srcu, idx);
	return 1;
}

void assigned(struct nof_head *head)
{
	int idx;

	idx = srcu_read_lock(&head->subsys->srcu);	/* BAD */
	if (head->gone)
		return;
	srcu_read_unlock(&head->subsys->srcu, idx);
}

void *scope(size_t n)
{
	unsigned int noio = memalloc_noio_save();	/* BAD */
	void *p = kmalloc(n, GFP_KERNEL);

	if (!p)
		return NULL;
	memalloc_noio_restore(noio);
	return p;
}

void socket(struct sock *sk, bool closed)
{
	lock_sock(sk);	/* BAD */
	if (closed)
		return;
	release_sock(sk);
}
