// SPDX-License-Identifier: GPL-2.0-only
/* sendpages_ok() */
#include <linux/net.h>

#ifdef SPELLING_PRESENT
bool probe(struct page *page);
bool probe(struct page *page)
{
	return sendpages_ok(page, 8192, 0);
}
#endif

#ifdef SPELLING_ABSENT
extern int sendpages_ok;

bool probe(struct page *page);
bool probe(struct page *page)
{
	return sendpage_ok(page);
}
#endif
