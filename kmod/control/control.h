/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of control/ have of one another, but for netlink: genl.h. */
#ifndef NOF_CONTROL_H
#define NOF_CONTROL_H

#include <linux/device.h>
#include "compat/dev.h"
#include "core/event.h"

struct kobj_uevent_env;

/* Before the first object can exist, and after the last one is gone. */
int nof_control_init(void);
void nof_control_exit(void);

/* /sys/class/nvmeof-subsystem and /sys/class/nvmeof, with their attributes; /sys/class/nvmeof-generic */
extern nof_class_const struct class nof_subsys_class;
extern nof_class_const struct class nof_ctrl_class;

extern const struct attribute_group *nof_ctrl_attr_groups[];
extern const struct attribute_group *nof_subsys_attr_groups[];

/* For nof_events: each event as a netlink notification. */
extern const struct nof_event_ops nof_genl_event_ops;

extern nof_class_const struct class nof_generic_class;

/*
 * uevent.c: variables of each uevent of a controller; uevents of its own when it is live, and for asynchronous events.
 * They are sent by a work, which nof_uevent_exit() ends: nothing may be told any more by then.
 */
void nof_uevent_init(struct nof_ctrl *ctrl);
void nof_uevent_exit(struct nof_ctrl *ctrl);
int nof_ctrl_uevent(nof_class_device *dev, struct kobj_uevent_env *env);
void nof_uevent_connected(struct nof_ctrl *ctrl);
void nof_uevent_aen(struct nof_ctrl *ctrl, u8 type, u8 info, u8 log_page);

/* generic.c */
int nof_generic_init(void);
void nof_generic_exit(void);

/* chardev.c */
int nof_chardev_init(void);
void nof_chardev_exit(void);
/**
 * nof_chardev_add() - make a controller visible: its device, sysfs attributes and /dev node, in one step
 * @ctrl:	named, and initialised as far as attributes and ioctls look at it; its subsystem's device is added
 */
int nof_chardev_add(struct nof_ctrl *ctrl);
/* The mirror. Open files stay open: their ioctls then fail with -ENODEV, and they hold the last references. */
void nof_chardev_del(struct nof_ctrl *ctrl);
/* The last reference has gone: so does the number of its node. Also of one that was never visible. */
void nof_chardev_release(struct nof_ctrl *ctrl);

#endif
