// SPDX-License-Identifier: GPL-2.0-only
/* import_ubuf() */
#include <linux/uio.h>

#ifdef SPELLING_PRESENT
int probe(void __user *buf, size_t len, struct iov_iter *iter);
int probe(void __user *buf, size_t len, struct iov_iter *iter)
{
	return import_ubuf(ITER_DEST, buf, len, iter);
}
#endif

#ifdef SPELLING_ABSENT
extern int import_ubuf;

void probe(void __user *buf, size_t len, struct iov_iter *iter);
void probe(void __user *buf, size_t len, struct iov_iter *iter)
{
	iov_iter_ubuf(iter, ITER_DEST, buf, len);
}
#endif
