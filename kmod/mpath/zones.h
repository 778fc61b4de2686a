/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Zoned disks: zone reports, and retries. The block layer sends the writes of a zone in order, one at a time, for the
 * disk and thus over all paths. A write that is sent twice fails the second time, because the write pointer has moved.
 * Therefore a request that may have been executed first reads a report of its zone, under its own tag. Its fence
 * precedes the report, so that the reported state is final.
 */
#ifndef NOF_MPATH_ZONES_H
#define NOF_MPATH_ZONES_H

#include <linux/blk-mq.h>
#include "wire/zone.h"

struct blk_report_zones_args;
struct nof_head;
struct nof_request;

enum nof_zone_step {
	NOF_ZONE_KNOWN,
	NOF_ZONE_UNKNOWN,		/* may have been executed: a zone report precedes the retry */
	NOF_ZONE_QUERIED,		/* the zone report is outstanding */
};

int nof_zones_init(void);
void nof_zones_exit(void);

/* report_zones() of struct block_device_operations. Context: process, sleeps. */
int nof_zones_report(struct gendisk *disk, sector_t sector, unsigned int nr, struct blk_report_zones_args *args);
/*
 * Before the disk is shown: has the block layer read the zones, without waiting for a path. Returns -EPROTO and sets
 * head->zone_fault if the zones are invalid. Context: process, sleeps; under show.lock.
 */
int nof_zones_begin(struct nof_head *head);

/* Before a retry: sets req->zone if a zone report has to precede it. Any context. */
void nof_zone_mark_unknown(struct nof_request *req, const struct request *rq);
/* Sets up the command of the request as a report of its zone. Returns 0 or -ENOMEM. Any context. */
int nof_zone_query(struct nof_head *head, struct nof_request *req, u32 nsid);
/* Frees the zone report, if any, which must not be outstanding; a retry needs another one. Any context. */
void nof_zone_query_free(struct nof_request *req);
/*
 * The report has completed. For NOF_ZONE_QUERY_FAILED, its status says why it failed; for NOF_ZONE_UNDECIDED, the
 * status is the result of the request. Any context.
 */
enum nof_zone_verdict nof_zone_query_done(struct nof_request *req, struct request *rq);

/* Passes the position of a completed append to the block layer; fails it if that is outside its zone. Any context. */
void nof_zone_appended(const struct nof_head *head, struct request *rq);
/* True for an append that may have been executed at an unknown position: fails after its fence. Any context. */
bool nof_zone_lost_append(const struct nof_request *req, const struct request *rq);

#endif
