// SPDX-License-Identifier: GPL-2.0-only
/* class_register() */
#include <linux/device.h>

#ifdef SPELLING_CONST	/* takes a constant class */
int probe(const struct class *c);
int probe(const struct class *c)
{
	return class_register(c);
}
#endif

#ifdef SPELLING_PLAIN
int probe(struct class *c);
int probe(struct class *c)
{
	return class_register(c);
}
#endif
