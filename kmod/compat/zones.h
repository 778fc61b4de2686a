/* SPDX-License-Identifier: GPL-2.0-only */
/* report_zones() of a disk */
#ifndef NOF_COMPAT_ZONES_H
#define NOF_COMPAT_ZONES_H

#include <linux/blkdev.h>

#if NOF_HAVE_REPORT_ZONES_ARGS
/* Defines @name, of the type of report_zones(), which calls @report(disk, sector, nr, args) */
#define NOF_DEFINE_REPORT_ZONES(name, report)							\
static int name(struct gendisk *disk, sector_t sector, unsigned int nr,			\
		struct blk_report_zones_args *args)						\
{												\
	return report(disk, sector, nr, args);							\
}
#else
struct blk_report_zones_args {
	report_zones_cb	cb;
	void		*data;
};

static inline int disk_report_zone(struct gendisk *disk, struct blk_zone *zone, unsigned int idx,
				   struct blk_report_zones_args *args)
{
	return args->cb(zone, idx, args->data);
}

#define NOF_DEFINE_REPORT_ZONES(name, report)							\
static int name(struct gendisk *disk, sector_t sector, unsigned int nr, report_zones_cb cb,	\
		void *data)									\
{												\
	struct blk_report_zones_args args = { .cb = cb, .data = data };				\
												\
	return report(disk, sector, nr, &args);							\
}
#endif

#endif
