/* SPDX-License-Identifier: LGPL-2.1-or-later */

#ifdef STUB_ARRAY
#define strscpy(dst, ...) sized_strscpy(dst, sizeof(dst), ##__VA_ARGS__)

long sized_strscpy(char *dst, size_t size, const char *src, ...);
#endif

#ifdef STUB_SIZE
long strscpy(char *dst, const char *src, size_t size);
#endif
