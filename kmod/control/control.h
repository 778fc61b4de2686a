/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of control/ have of one another, but for netlink: genl.h. */
#ifndef NOF_CONTROL_H
#define NOF_CONTROL_H

#include <linux/device.h>
#include "compat/dev.h"
#include "core/upcalls.h"

struct kobj_uevent_env;

/* /sys/class/nvmeof-subsystem, with its attributes */
extern nof_class_const struct class nof_subsys_class;

extern const struct attribute_group *nof_ctrl_attr_groups[];
extern const struct attribute_group *nof_head_attr_groups[];
extern const struct attribute_group *nof_path_attr_groups[];

/* For nof_events: each event as a netlink notification. */
extern const struct nof_event_ops nof_genl_event_ops;

/*
 * events.c: variables of each uevent of a controller; uevents of its own when it is live, and for asynchronous events.
 * They are sent by a work, which nof_uevent_exit() ends: nothing may be told any more by then.
 */
void nof_uevent_init(struct nof_ctrl *ctrl);
void nof_uevent_exit(struct nof_ctrl *ctrl);
int nof_ctrl_uevent(nof_class_device *dev, struct kobj_uevent_env *env);

/* nodes.c: the device nodes, with /sys/class/nvmeof and /sys/class/nvmeof-generic */
int nof_nodes_init(void);
void nof_nodes_exit(void);

#endif
