/* SPDX-License-Identifier: GPL-2.0-only */
/* Selector and policy of a subsystem, as control/ changes them; initialization of mpath/. */
#ifndef NOF_MPATH_SUBSYS_H
#define NOF_MPATH_SUBSYS_H

struct netlink_ext_ack;
struct nof_policy;
struct nof_selector;
struct nof_subsys;

/* Changes the selector of a running subsystem; -ENOENT with a message if there is none of that name. Sleeps. */
int nof_subsys_set_iopolicy(struct nof_subsys *s, const char *name, struct netlink_ext_ack *extack);

/*
 * A caller changes some policy values in a copy, within their bounds, and commits the copy as a whole. No other task
 * changes values between nof_policy_begin() and the commit, which must follow, and sends an event. Both sleep.
 */
void nof_policy_begin(const struct nof_subsys *s, struct nof_policy *p);
void nof_policy_commit(struct nof_subsys *s, const struct nof_policy *p);

/* selectors.c */
extern struct nof_selector nof_selector_numa, nof_selector_round_robin, nof_selector_queue_depth, nof_selector_latency;
/* Register the built-in selectors (0, or a negative errno), and unregister them */
int nof_selectors_init(void);
void nof_selectors_exit(void);
/* Sets the static calls of core/upcalls.h; called before the first controller is made */
void nof_mpath_init(void);

#endif
