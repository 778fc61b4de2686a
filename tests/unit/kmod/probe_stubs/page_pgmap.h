/* SPDX-License-Identifier: LGPL-2.1-or-later */
struct dev_pagemap;

#ifdef STUB_HELPER
struct page;

struct dev_pagemap *page_pgmap(const struct page *page);
#endif

#ifdef STUB_MEMBER
struct page {
	struct dev_pagemap *pgmap;
};
#endif
