// SPDX-License-Identifier: GPL-2.0-only
/* class_register() takes a constant class */
#include <linux/device.h>

int probe(const struct class *c);
int probe(const struct class *c)
{
	return class_register(c);
}
