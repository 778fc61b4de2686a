// SPDX-License-Identifier: GPL-2.0-only
/* device passed to callbacks of a class */
#include <linux/device.h>

#ifdef SPELLING_CONST
static int uevent(const struct device *dev, struct kobj_uevent_env *env)
{
	return 0;
}

extern struct class probe;
struct class probe = { .name = "probe", .dev_uevent = uevent };
#endif

#ifdef SPELLING_PLAIN
static int uevent(struct device *dev, struct kobj_uevent_env *env)
{
	return 0;
}

extern struct class probe;
struct class probe = { .name = "probe", .dev_uevent = uevent };
#endif
