// SPDX-License-Identifier: GPL-2.0-only
/* maximum of a zone append */
#include <linux/blkdev.h>

#ifdef SPELLING_HW	/* that of the device; the block layer derives its own */
void probe(struct queue_limits *lim);
void probe(struct queue_limits *lim)
{
	lim->max_hw_zone_append_sectors = 8;
}
#endif

#ifdef SPELLING_ONE
void probe(struct queue_limits *lim);
void probe(struct queue_limits *lim)
{
	lim->max_zone_append_sectors = 8;
}
#endif
