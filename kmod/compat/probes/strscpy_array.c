// SPDX-License-Identifier: GPL-2.0-only
/* strscpy() derives the size from an array */
#include <linux/string.h>

void probe(const char *src);
void probe(const char *src)
{
	char name[8];

	strscpy(name, src);
}
