// SPDX-License-Identifier: GPL-2.0-only
/* Walking the data of a command, be they the bios of a request or a kernel buffer. */
#include <linux/bio.h>
#include <linux/blk-integrity.h>
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

static struct bio_vec pi_piece(const struct nof_data *d)
{
	const struct bio_integrity_payload *bip = bio_integrity(d->bio);
	struct bvec_iter it = { };

	if (bip) {
		it = bip->bip_iter;
		if (d->pi_used < it.bi_size) {
			bvec_iter_advance(bip->bip_vec, &it, d->pi_used);
			return mp_bvec_iter_bvec(bip->bip_vec, it);
		}
	}
	return (struct bio_vec){ };
}

/* Of a block first its data, in as many pieces as they are in, and then its protection information. */
static void use_piece(struct nof_data *d)
{
	u32 data = d->block_left - min(d->block_left, d->pi_bytes);

	d->bvec = data ? mp_bvec_iter_bvec(d->bio->bi_io_vec, d->at) : pi_piece(d);
	d->bvec.bv_len = min(d->bvec.bv_len, data ?: d->block_left);
	/* Less of it than there are blocks would be the block layer's mistake, or ours */
	if (WARN_ON_ONCE(!d->bvec.bv_len))
		d->left = 0;
	iov_iter_bvec(&d->iter, d->dest, &d->bvec, 1, min(d->bvec.bv_len, d->left));
}

/* To the first bio from @bio on that has data, as each begins with a block */
static void next_protected_bio(struct nof_data *d, struct bio *bio)
{
	while (bio && !bio->bi_iter.bi_size)
		bio = bio->bi_next;
	if (WARN_ON_ONCE(!bio)) {
		d->left = 0;
		return;
	}
	d->bio = bio;
	d->at = bio->bi_iter;
	d->pi_used = 0;
	d->block_left = d->block;
	use_piece(d);
}

/* The current piece is used up, and more are to come. */
static void next_piece(struct nof_data *d)
{
	u32 n = d->bvec.bv_len;

	if (d->block_left > d->pi_bytes)
		bvec_iter_advance(d->bio->bi_io_vec, &d->at, n);
	else
		d->pi_used += n;
	d->block_left = d->block_left - n ?: d->block;
	if (d->block_left == d->block && !d->at.bi_size)
		next_protected_bio(d, d->bio->bi_next);
	else
		use_piece(d);
}

static void use_request(struct nof_data *d, struct nof_cmd *cmd)
{
	struct request *rq = nof_cmd_rq(cmd);

	if (d->pi_bytes) {
		d->block = (1U << cmd->pi_shift) + cmd->pi_bytes;
		next_protected_bio(d, rq->bio);
	} else if (rq->rq_flags & RQF_SPECIAL_PAYLOAD) {
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
	d->pi_bytes = cmd->pi_bytes;
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
	if (!d->left || iov_iter_count(&d->iter))
		return;
	if (unlikely(d->pi_bytes))
		next_piece(d);
	else
		next_bio(d, d->bio ? d->bio->bi_next : NULL);
}
EXPORT_SYMBOL_GPL(nof_data_consumed);
