/* SPDX-License-Identifier: LGPL-2.1-or-later */
struct page;

bool sendpage_ok(struct page *page);

#ifdef STUB_PRESENT
bool sendpages_ok(struct page *page, size_t len, size_t offset);
#endif

#ifdef STUB_ABSENT
#endif
