/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Disks with zones. The block layer keeps the writes of a zone in order, one at a time, for the disk as a whole, so
 * over all paths. What is done here: reports, and what was sent and not answered. A write sent twice fails the second
 * time, as its zone has moved on. So a request that may have been executed does not go again as it is: the zone is
 * asked first, by the same request, under the same tag. Fencing comes before that: what is asked stays so.
 */
#ifndef NOF_MPATH_ZONES_H
#define NOF_MPATH_ZONES_H

#include <linux/blk-mq.h>
#include "wire/zone.h"

struct nof_head;
struct nof_request;

enum nof_zone_step {
	NOF_ZONE_SURE,
	NOF_ZONE_DOUBT,		/* the zone has to be asked before it is sent again */
	NOF_ZONE_ASKED,		/* what is outstanding is that question */
};

int nof_zones_init(void);
void nof_zones_exit(void);

/* Of the disk's operations. Context: process, sleeps. */
int nof_zones_report(struct gendisk *disk, sector_t sector, unsigned int nr, report_zones_cb cb, void *data);
/*
 * The disk is about to be shown: the block layer reads its zones by one of the paths, and waits for none. -EPROTO, with
 * head->zone_fault: they are not as they have to be. Context: process, sleeps; under show_lock.
 */
int nof_zones_begin(struct nof_head *head);

/* The request goes again: whether its zone has to be asked first. Any context. */
void nof_zone_doubt(struct nof_request *req, const struct request *rq);
/* Makes its command a report of its zone. 0 or -ENOMEM. Context: any. */
int nof_zone_ask(struct nof_head *head, struct nof_request *req, u32 nsid);
/* The question, if there is one, is not outstanding. Any context. */
void nof_zone_forget(struct nof_request *req);
/* It has come back. With NOF_ZONE_UNTOLD the status says why, with NOF_ZONE_WRONG it is the request's. Any context. */
enum nof_zone_verdict nof_zone_told(struct nof_request *req, struct request *rq);

/* Done, the block layer is told where it went; a place outside of its zone becomes an error. Any context. */
void nof_zone_appended(const struct nof_head *head, struct request *rq);
/* It may have been executed, at a place that is not known: it ends with an error after the fence. Any context. */
bool nof_zone_lost_append(const struct nof_request *req, const struct request *rq);

#endif
