// SPDX-License-Identifier: GPL-2.0-only
/* Walking the data of a command, be they the bios of a request or a kernel buffer. */
#include <linux/bio.h>
#include <linux/bvec.h>
#include <linux/export.h>
#include <linux/mm.h>
#include "core/cmd.h"

static void use_buffer(struct nof_data *d, void *buf)
{
	bvec_set_page(&d->bvec, virt_to_page(buf), d->left, offset_in_page(buf));
	iov_iter_bvec(&d->iter, d->dest, &d->bvec, 1, d->left);
}

static void use_bio(struct nof_data *d, struct bio *bio)
{
	struct bvec_iter it;
	struct bio_vec bv;
	u32 n = 0;

	/* bi_vcnt is not set in a clone, and does not count from bi_idx. */
	bio_for_each_bvec(bv, bio, it)
		n++;
	iov_iter_bvec(&d->iter, d->dest, __bvec_iter_bvec(bio->bi_io_vec, bio->bi_iter), n, bio->bi_iter.bi_size);
	d->iter.iov_offset = bio->bi_iter.bi_bvec_done;
	iov_iter_truncate(&d->iter, d->left);
	d->bio = bio;
}

/* To the first bio from @bio on that has data, while there are data to come */
static void next_bio(struct nof_data *d, struct bio *bio)
{
	while (bio && d->left) {
		use_bio(d, bio);
		if (iov_iter_count(&d->iter))
			return;
		bio = bio->bi_next;
	}
	/* A command longer than its request is our own mistake, yet no reason to run past the end. */
	if (WARN_ON_ONCE(d->left))
		d->left = 0;
}

static void use_request(struct nof_data *d, struct nof_cmd *cmd)
{
	struct request *rq = nof_cmd_rq(cmd);

	if (rq->rq_flags & RQF_SPECIAL_PAYLOAD) {
		d->bvec = rq->special_vec;
		iov_iter_bvec(&d->iter, d->dest, &d->bvec, 1, min(d->left, d->bvec.bv_len));
		d->left = iov_iter_count(&d->iter);
	} else {
		next_bio(d, rq->bio);
	}
}

void nof_data_init(struct nof_data *d, struct nof_cmd *cmd, unsigned int dest)
{
	d->left = cmd->len;
	d->dest = dest;
	d->bio = NULL;
	d->iter.count = 0;
	if (!d->left)
		return;
	if (cmd->discard)
		iov_iter_discard(&d->iter, dest, d->left);
	else if (cmd->buf)
		use_buffer(d, cmd->buf);
	else
		use_request(d, cmd);
}
EXPORT_SYMBOL_GPL(nof_data_init);

void nof_data_consumed(struct nof_data *d, u32 n)
{
	d->left -= n;
	if (d->left && !iov_iter_count(&d->iter))
		next_bio(d, d->bio ? d->bio->bi_next : NULL);
}
EXPORT_SYMBOL_GPL(nof_data_consumed);
