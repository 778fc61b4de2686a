// SPDX-License-Identifier: GPL-2.0-only
/* class_create() */
#include <linux/device.h>

#ifdef SPELLING_NAME
struct class *probe(void);
struct class *probe(void)
{
	return class_create("probe");
}
#endif

#ifdef SPELLING_OWNER	/* takes the owner, too */
struct class *probe(void);
struct class *probe(void)
{
	return class_create(THIS_MODULE, "probe");
}
#endif
