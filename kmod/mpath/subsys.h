/* SPDX-License-Identifier: GPL-2.0-only */
/* How a subsystem uses its paths: what control/ changes of it. */
#ifndef NOF_MPATH_SUBSYS_H
#define NOF_MPATH_SUBSYS_H

struct netlink_ext_ack;
struct nof_policy;
struct nof_subsys;

/* Changes the selector of a running subsystem; -ENOENT with a message naming the known ones. Sleeps. */
int nof_subsys_set_iopolicy(struct nof_subsys *s, const char *name, struct netlink_ext_ack *extack);

/* Takes over new policy values (bounds checked by the caller) and tells. Sleeps. */
void nof_subsys_set_policy(struct nof_subsys *s, const struct nof_policy *policy);

#endif
