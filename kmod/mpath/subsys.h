/* SPDX-License-Identifier: GPL-2.0-only */
/* How a subsystem uses its paths: what control/ changes of it. */
#ifndef NOF_MPATH_SUBSYS_H
#define NOF_MPATH_SUBSYS_H

struct netlink_ext_ack;
struct nof_policy;
struct nof_selector;
struct nof_subsys;

/* Changes the selector of a running subsystem; -ENOENT with a message naming the known ones. Sleeps. */
int nof_subsys_set_iopolicy(struct nof_subsys *s, const char *name, struct netlink_ext_ack *extack);

/*
 * Policy values are changed some at a time but taken over as a whole: a copy of them, to change within their bounds.
 * Nobody else changes any until the commit, which must follow, and tells. Both sleep.
 */
void nof_policy_begin(const struct nof_subsys *s, struct nof_policy *p);
void nof_policy_commit(struct nof_subsys *s, const struct nof_policy *p);

/* choose.c */
extern struct nof_selector nof_selector_numa, nof_selector_round_robin, nof_selector_queue_depth, nof_selector_latency;
/* They are registered: 0, or a negative errno, and their end */
int nof_selectors_init(void);
void nof_selectors_exit(void);
/* Fill in the static calls of core/upcalls.h, before the first controller is made */
void nof_mpath_init(void);

#endif
