/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef NOF_COMPAT_BLK_H
#define NOF_COMPAT_BLK_H

#if NOF_HAVE_BLK_MODE_FMODE
#include <linux/fs.h>

typedef fmode_t blk_mode_t;

#define BLK_OPEN_READ	FMODE_READ
#define BLK_OPEN_WRITE	FMODE_WRITE
#define BLK_OPEN_EXCL	FMODE_EXCL
#define BLK_OPEN_NDELAY	FMODE_NDELAY
#endif

#if NOF_HAVE_STS_CONFLICT_NEXUS
#define BLK_STS_RESV_CONFLICT	BLK_STS_NEXUS
#endif

#if NOF_HAVE_ATOMIC_WRITE_ABSENT
#include <linux/blk_types.h>

/* No request has this flag */
#define REQ_ATOMIC	((__force blk_opf_t)0)
#endif

#if NOF_HAVE_RQ_LIST_POINTER
#include <linux/blk-mq.h>

/* Older lists are bare pointers; the newest form takes the address of the list. */
#undef rq_list_empty
#define rq_list_empty(list)	(!*(list))
#endif

#if NOF_HAVE_BVEC_ITER_DONE
#define bi_offset	bi_bvec_done
#endif

#if NOF_HAVE_PAGE_PGMAP_MEMBER
#include <linux/memremap.h>
#include <linux/mm.h>

static inline struct dev_pagemap *page_pgmap(const struct page *page)
{
	return page->pgmap;
}
#endif

#if NOF_HAVE_RQ_MAP_SG_QUEUE
#include <linux/blk-mq.h>

#define blk_rq_map_sg(rq, sgl)	blk_rq_map_sg((rq)->q, rq, sgl)
#endif

#if NOF_HAVE_RQ_MAP_KERN_QUEUE
#include <linux/blk-mq.h>

#define blk_rq_map_kern(rq, buf, len, gfp)	blk_rq_map_kern((rq)->q, rq, buf, len, gfp)
#endif

#if NOF_HAVE_UNFREEZE_PLAIN
#define blk_mq_unfreeze_queue_nomemrestore	blk_mq_unfreeze_queue
#endif

#endif
