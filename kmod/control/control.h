/* SPDX-License-Identifier: GPL-2.0-only */
/* Interfaces between the files of control/; genl.h has those of netlink. */
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

/* For nof_events: sends each event as a netlink notification. */
extern const struct nof_event_ops nof_genl_event_ops;

/*
 * events.c: uevents of a controller. nof_ctrl_uevent() adds variables to each. A work item sends those for state LIVE
 * and for asynchronous events. nof_uevent_exit() cancels it; no such event may be reported after that.
 */
void nof_uevent_init(struct nof_ctrl *ctrl);
void nof_uevent_exit(struct nof_ctrl *ctrl);
int nof_ctrl_uevent(nof_class_device *dev, struct kobj_uevent_env *env);

/* nodes.c: the device nodes, /sys/class/nvmeof and /sys/class/nvmeof-generic */
int nof_nodes_init(void);
void nof_nodes_exit(void);

#endif
