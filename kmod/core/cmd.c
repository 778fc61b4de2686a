// SPDX-License-Identifier: GPL-2.0-only
/* The data cursor of a command, over the bios of a request or a kernel buffer. */
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
	struct bio_vec bv = mp_bvec_iter_bvec(bio->bi_io_vec, bio->bi_iter);
	struct bvec_iter it;
	u32 n = 1;

	/* count: bi_vcnt is not set in a clone, and does not start at bi_idx; most small bios have one bvec */
	if (bv.bv_len != bio->bi_iter.bi_size) {
		n = 0;
		bio_for_each_bvec(bv, bio, it)
			n++;
	}
	iov_iter_bvec(&d->iter, d->dest, __bvec_iter_bvec(bio->bi_io_vec, bio->bi_iter), n, bio->bi_iter.bi_size);
	d->iter.iov_offset = bio->bi_iter.bi_offset;
	iov_iter_truncate(&d->iter, d->left);
	d->bio = bio;
}

/* Moves to the first bio with data, from @bio on, if bytes are left */
static void next_bio(struct nof_data *d, struct bio *bio)
{
	for (; bio && d->left; bio = bio->bi_next) {
		if (!bio->bi_iter.bi_size)
			continue;
		use_bio(d, bio);
		if (iov_iter_count(&d->iter))
			return;
	}
	/* A command longer than its request is a bug in this driver: do not run past the end. */
	if (WARN_ON_ONCE(d->left))
		d->left = 0;
}

static u32 block_bytes(const struct nof_data *d)
{
	return (1U << d->pi_shift) + d->pi_bytes;
}

/* Bytes left of the current block's data; 0: its protection information is next. */
static u32 data_left(const struct nof_data *d)
{
	u32 in = d->bio_done % block_bytes(d);

	return in < 1U << d->pi_shift ? (1U << d->pi_shift) - in : 0;
}

/* Iterator over the rest of the bio's data */
static struct bvec_iter data_iter(const struct nof_data *d)
{
	u32 block = block_bytes(d), data = (d->bio_done / block << d->pi_shift) + (1U << d->pi_shift) - data_left(d);

	return (struct bvec_iter){
		.bi_size = d->bio->bi_iter.bi_size - data, .bi_idx = d->bv_idx, .bi_offset = d->bv_done,
	};
}

static struct bio_vec pi_piece(const struct nof_data *d)
{
	const struct bio_integrity_payload *bip = bio_integrity(d->bio);
	u32 block = block_bytes(d), rest = d->bio_done % block;
	u32 used = d->bio_done / block * d->pi_bytes + rest - (1U << d->pi_shift);
	struct bvec_iter it;

	if (!bip || used >= bip->bip_iter.bi_size)
		return (struct bio_vec){ };
	it = bip->bip_iter;
	bvec_iter_advance(bip->bip_vec, &it, used);
	return mp_bvec_iter_bvec(bip->bip_vec, it);
}

/* A block consists of its data, in one piece or more, and its protection information. */
static void use_piece(struct nof_data *d)
{
	u32 data = data_left(d);

	if (data) {
		d->bvec = mp_bvec_iter_bvec(d->bio->bi_io_vec, data_iter(d));
		d->bvec.bv_len = min(d->bvec.bv_len, data);
	} else {
		d->bvec = pi_piece(d);
		d->bvec.bv_len = min(d->bvec.bv_len, block_bytes(d) - d->bio_done % block_bytes(d));
	}
	/* less protection information than blocks: a bug in the block layer or in this driver */
	if (WARN_ON_ONCE(!d->bvec.bv_len))
		d->left = 0;
	iov_iter_bvec(&d->iter, d->dest, &d->bvec, 1, min(d->bvec.bv_len, d->left));
}

/* Moves to the first bio with data, from @bio on; each begins with a block. */
static void next_protected_bio(struct nof_data *d, struct bio *bio)
{
	while (bio && !bio->bi_iter.bi_size)
		bio = bio->bi_next;
	if (WARN_ON_ONCE(!bio)) {
		d->left = 0;
		return;
	}
	d->bio = bio;
	d->bv_idx = bio->bi_iter.bi_idx;
	d->bv_done = bio->bi_iter.bi_offset;
	d->bio_done = 0;
	use_piece(d);
}

/* Moves on from a piece that is used up; bytes are left. */
static void next_piece(struct nof_data *d)
{
	struct bvec_iter it;

	if (data_left(d)) {
		it = data_iter(d);
		bvec_iter_advance(d->bio->bi_io_vec, &it, d->bvec.bv_len);
		d->bv_idx = it.bi_idx;
		d->bv_done = it.bi_offset;
	}
	d->bio_done += d->bvec.bv_len;
	if (d->bio_done / block_bytes(d) == d->bio->bi_iter.bi_size >> d->pi_shift)
		next_protected_bio(d, d->bio->bi_next);
	else
		use_piece(d);
}

static void use_request(struct nof_data *d, struct nof_cmd *cmd)
{
	struct request *rq = nof_cmd_rq(cmd);

	if (d->pi_bytes) {
		d->pi_shift = cmd->pi_shift;
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
	if (cmd->drop_data)
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
