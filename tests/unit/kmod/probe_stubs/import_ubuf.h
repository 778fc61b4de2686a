/* SPDX-License-Identifier: LGPL-2.1-or-later */
struct iov_iter;

enum { ITER_DEST };

void iov_iter_ubuf(struct iov_iter *iter, unsigned int dir, void *buf, size_t len);

#ifdef STUB_PRESENT
int import_ubuf(int dir, void *buf, size_t len, struct iov_iter *iter);
#endif

#ifdef STUB_ABSENT
#endif
