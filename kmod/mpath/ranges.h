/* SPDX-License-Identifier: GPL-2.0-only */
/* The ranges of a discard that has several (Dataset Management, NVM Command Set 1.0, 3.2.3). */
#ifndef NOF_MPATH_RANGES_H
#define NOF_MPATH_RANGES_H

#include <linux/types.h>

struct nof_request;

/* Of one command */
#define NOF_MAX_RANGES	256

int nof_ranges_init(void);
void nof_ranges_exit(void);
/* Memory for all of them, at the first try of the request; false if there is none now. Any context. */
bool nof_ranges_get(struct nof_request *req);
/* The request has ended, or its bios go on as others. Any context. */
void nof_ranges_put(struct nof_request *req);

#endif
