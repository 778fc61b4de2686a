/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef NOF_COMPAT_BLK_H
#define NOF_COMPAT_BLK_H

#if !NOF_HAVE_BLK_MODE
#include <linux/fs.h>

typedef fmode_t blk_mode_t;

#define BLK_OPEN_READ	FMODE_READ
#define BLK_OPEN_WRITE	FMODE_WRITE
#define BLK_OPEN_EXCL	FMODE_EXCL
#define BLK_OPEN_NDELAY	FMODE_NDELAY
#endif

#if !NOF_HAVE_STS_RESV_CONFLICT
#define BLK_STS_RESV_CONFLICT	BLK_STS_NEXUS
#endif

#if !NOF_HAVE_ATOMIC_WRITE
#include <linux/blk_types.h>

/* No request has this flag */
#define REQ_ATOMIC	((__force blk_opf_t)0)
#endif

#if !NOF_HAVE_RQ_LIST
#include <linux/blk-mq.h>

/* Older lists are bare pointers; the newest form takes the address of the list. */
#undef rq_list_empty
#define rq_list_empty(list)	(!*(list))
#endif

#endif
