/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory for the ranges of a discard with several (Dataset Management, NVM Command Set 1.0, 3.2.3). */
#ifndef NOF_MPATH_DISCARD_RANGES_H
#define NOF_MPATH_DISCARD_RANGES_H

#include <linux/types.h>

struct nof_request;

/* In one command */
#define NOF_MAX_RANGES	256

int nof_ranges_init(void);
void nof_ranges_exit(void);
/* Allocates req->ranges unless an earlier try did; false if there is no memory now. Any context. */
bool nof_ranges_get(struct nof_request *req);
/* When the request has completed or is parked. Any context. */
void nof_ranges_put(struct nof_request *req);

#endif
