// SPDX-License-Identifier: GPL-2.0-only
/* sendpages_ok(), which checks a range of pages */
#include <linux/net.h>

bool probe(struct page *page);
bool probe(struct page *page)
{
	return sendpages_ok(page, 8192, 0);
}
