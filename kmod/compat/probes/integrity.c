// SPDX-License-Identifier: GPL-2.0-only
/* size of the metadata that the block layer generates */
#include <linux/blkdev.h>
#include <linux/blk-integrity.h>

#ifdef SPELLING_METADATA	/* apart from the size of the protection information in it */
void probe(struct queue_limits *lim);
void probe(struct queue_limits *lim)
{
	lim->integrity.metadata_size = lim->integrity.pi_tuple_size;
}
#endif

#ifdef SPELLING_TUPLE
void probe(struct queue_limits *lim);
void probe(struct queue_limits *lim)
{
	lim->integrity.tuple_size = 8;
}
#endif

#ifdef SPELLING_PROFILE	/* not among the limits */
void probe(struct blk_integrity *bi);
void probe(struct blk_integrity *bi)
{
	bi->profile = NULL;
}
#endif
