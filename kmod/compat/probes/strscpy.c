// SPDX-License-Identifier: GPL-2.0-only
/* strscpy() */
#include <linux/string.h>

#ifdef SPELLING_ARRAY	/* derives the size from an array */
void probe(const char *src);
void probe(const char *src)
{
	char name[8];

	strscpy(name, src);
}
#endif

#ifdef SPELLING_SIZE
void probe(const char *src);
void probe(const char *src)
{
	char name[8];

	strscpy(name, src, sizeof(name));
}
#endif
