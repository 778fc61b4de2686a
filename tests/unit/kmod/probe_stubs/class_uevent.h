/* SPDX-License-Identifier: LGPL-2.1-or-later */
struct device;
struct kobj_uevent_env;

#ifdef STUB_CONST
struct class {
	const char *name;
	int (*dev_uevent)(const struct device *dev, struct kobj_uevent_env *env);
};
#endif

#ifdef STUB_PLAIN
struct class {
	const char *name;
	int (*dev_uevent)(struct device *dev, struct kobj_uevent_env *env);
};
#endif
