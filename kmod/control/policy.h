/* SPDX-License-Identifier: GPL-2.0-only */
/* The policy values of a subsystem are changed some at a time but taken over as a whole: */
#ifndef NOF_CONTROL_POLICY_H
#define NOF_CONTROL_POLICY_H

struct nof_policy;
struct nof_subsys;

/* A copy of the values to change. Nobody else changes any until the commit, which must follow. Sleeps. */
void nof_policy_begin(const struct nof_subsys *s, struct nof_policy *p);
/* Takes them over, and tells. */
void nof_policy_commit(struct nof_subsys *s, const struct nof_policy *p);

#endif
