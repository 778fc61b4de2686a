// SPDX-License-Identifier: GPL-2.0-only
/* import_ubuf(), which has replaced import_single_range() */
#include <linux/uio.h>

int probe(void __user *buf, size_t len, struct iov_iter *iter);
int probe(void __user *buf, size_t len, struct iov_iter *iter)
{
	return import_ubuf(ITER_DEST, buf, len, iter);
}
