// SPDX-License-Identifier: GPL-2.0-only
/* pr_ops has read operations, and its operations return enum pr_status */
#include <linux/blkdev.h>
#include <linux/pr.h>

enum pr_status probe(const struct pr_ops *ops);
enum pr_status probe(const struct pr_ops *ops)
{
	return ops->pr_read_keys && ops->pr_read_reservation ? PR_STS_SUCCESS : PR_STS_RESERVATION_CONFLICT;
}
