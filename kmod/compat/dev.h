/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef NOF_COMPAT_DEV_H
#define NOF_COMPAT_DEV_H

#include <linux/device.h>

#if NOF_HAVE_CLASS_CREATE_OWNER
#undef class_create
#define class_create(name)							\
({										\
	static struct lock_class_key __key;					\
										\
	__class_create(THIS_MODULE, name, &__key);				\
})
#endif

/* Makes a class constant if class_register() accepts that. */
#if NOF_HAVE_CLASS_CONST
#define nof_class_const	const
#else
#define nof_class_const
#endif

/* Type of the device passed to callbacks of a class (dev_uevent, devnode) */
#if NOF_HAVE_CLASS_UEVENT_CONST
typedef const struct device nof_class_device;
#else
typedef struct device nof_class_device;
#endif

#endif
