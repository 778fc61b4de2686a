// SPDX-License-Identifier: GPL-2.0-only
/* read operations of reservations, and enum pr_status */
#include <linux/blkdev.h>
#include <linux/pr.h>

#ifdef SPELLING_PRESENT
enum pr_status probe(const struct pr_ops *ops);
enum pr_status probe(const struct pr_ops *ops)
{
	return ops->pr_read_keys && ops->pr_read_reservation ? PR_STS_SUCCESS : PR_STS_RESERVATION_CONFLICT;
}
#endif

#ifdef SPELLING_ABSENT
struct pr_keys {
	int a;
};

struct pr_held_reservation {
	int a;
};

enum pr_status {
	PR_STS_SUCCESS,
};
#endif
