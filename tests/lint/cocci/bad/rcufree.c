// SPDX-License-Identifier: LGPL-2.1-or-later
static void free_set(struct rcu_head *rcu)
{
	kfree(container_of(rcu, struct nof_path_set, rcu));
}

void publish(struct nof_head *head, struct nof_path_set *set)
{
	struct nof_path_set *old = rcu_replace_pointer(head->set, set, true);

	kfree(old);	/* BAD */
}

void selector(struct nof_subsys *s, struct nof_selector *new)
{
	struct nof_selector *old;

	old = rcu_replace_pointer(s->selector, new, true);
	nof_selector_put(old);	/* BAD */
}

void good(struct nof_subsys *s, struct nof_selector *new)
{
	struct nof_selector *old;

	old = rcu_replace_pointer(s->selector, new, true);
	synchronize_srcu(&s->srcu);
	nof_selector_put(old);
}

void inside(struct nof_subsys *s)
{
	int idx = srcu_read_lock(&s->srcu);

	if (s->users)
		synchronize_srcu(&s->srcu);	/* BAD */
	srcu_read_unlock(&s->srcu, idx);
}
