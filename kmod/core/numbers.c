// SPDX-License-Identifier: GPL-2.0-only
#include <linux/slab.h>
#include <linux/string.h>
#include "core/numbers.h"

static void numbers_init(struct nof_numbers *n)
{
	ida_init(&n->ida);
	spin_lock_init(&n->lock);
	INIT_LIST_HEAD(&n->past);
	n->nr_past = 0;
}

/* Takes the oldest number off the list, if there are more than @most */
static struct nof_number *past_surplus(struct nof_numbers *n, u32 most)
{
	struct nof_number *past = NULL;
	unsigned long flags;

	spin_lock_irqsave(&n->lock, flags);
	if (n->nr_past > most) {
		past = list_first_entry(&n->past, struct nof_number, entry);
		list_del(&past->entry);
		n->nr_past--;
	}
	spin_unlock_irqrestore(&n->lock, flags);
	return past;
}

void nof_numbers_trim(struct nof_numbers *n, u32 most)
{
	struct nof_number *past;

	while ((past = past_surplus(n, most))) {
		ida_free(&n->ida, past->nr);
		nof_number_free(past);
	}
}

void nof_numbers_exit(struct nof_numbers *n)
{
	nof_numbers_trim(n, 0);
	ida_destroy(&n->ida);
}

struct nof_number *nof_number_alloc(const char *key, bool inner)
{
	size_t len = strlen(key) + 1;
	struct nof_number *number = kzalloc(struct_size(number, key, len), GFP_KERNEL);

	if (!number)
		return NULL;
	memcpy(number->key, key, len);
	if (!inner)
		return number;
	number->inner = kzalloc(sizeof(*number->inner), GFP_KERNEL);
	if (!number->inner) {
		kfree(number);
		return NULL;
	}
	numbers_init(number->inner);
	return number;
}

void nof_number_free(struct nof_number *number)
{
	if (number->inner)
		nof_numbers_exit(number->inner);
	kfree(number->inner);
	kfree(number);
}

static struct nof_number *past_take(struct nof_numbers *n, const char *key)
{
	struct nof_number *past, *found = NULL;
	unsigned long flags;

	spin_lock_irqsave(&n->lock, flags);
	list_for_each_entry(past, &n->past, entry)
		if (!strcmp(past->key, key))
			found = past;
	if (found) {
		list_del(&found->entry);
		n->nr_past--;
	}
	spin_unlock_irqrestore(&n->lock, flags);
	return found;
}

int nof_number_take(struct nof_numbers *n, struct nof_number *number, u32 min, gfp_t gfp)
{
	struct nof_number *past = past_take(n, number->key);

	if (!past) {
		number->nr = ida_alloc_min(&n->ida, min, gfp);
		return min(number->nr, 0);
	}
	number->nr = past->nr;
	swap(number->inner, past->inner);
	nof_number_free(past);
	return 0;
}

void nof_number_keep(struct nof_numbers *n, struct nof_number *number, u32 most)
{
	unsigned long flags;

	spin_lock_irqsave(&n->lock, flags);
	list_add_tail(&number->entry, &n->past);
	n->nr_past++;
	spin_unlock_irqrestore(&n->lock, flags);
	nof_numbers_trim(n, most);
}
