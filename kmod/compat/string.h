/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef NOF_COMPAT_STRING_H
#define NOF_COMPAT_STRING_H

#include <linux/string.h>

#if NOF_HAVE_STRSCPY_SIZE
#include <linux/kernel.h>

/* A macro is not expanded again within itself: the innermost strscpy is the kernel's function. */
#define nof_strscpy2(dst, src)		strscpy(dst, src, sizeof(dst) + __must_be_array(dst))
#define nof_strscpy3(dst, src, size)	strscpy(dst, src, size)
#define strscpy(dst, ...)		CONCATENATE(nof_strscpy, COUNT_ARGS(dst, __VA_ARGS__))(dst, __VA_ARGS__)
#endif

#endif
