// SPDX-License-Identifier: GPL-2.0-only
/* device that the memory of a page belongs to */
#include <linux/memremap.h>
#include <linux/mm.h>

#ifdef SPELLING_HELPER
struct dev_pagemap *probe(struct page *page);
struct dev_pagemap *probe(struct page *page)
{
	return page_pgmap(page);
}
#endif

#ifdef SPELLING_MEMBER
struct dev_pagemap *probe(struct page *page);
struct dev_pagemap *probe(struct page *page)
{
	return page->pgmap;
}
#endif
