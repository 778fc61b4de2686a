// SPDX-License-Identifier: GPL-2.0-only
/* bytes already done of the current bvec */
#include <linux/bvec.h>

#ifdef SPELLING_OFFSET
unsigned int probe(const struct bvec_iter *it);
unsigned int probe(const struct bvec_iter *it)
{
	return it->bi_offset;
}
#endif

#ifdef SPELLING_DONE
unsigned int probe(const struct bvec_iter *it);
unsigned int probe(const struct bvec_iter *it)
{
	return it->bi_bvec_done;
}
#endif
