/* SPDX-License-Identifier: GPL-2.0-only */
/* CTRL_NEW's attributes as struct nof_opts. */
#ifndef NOF_CONTROL_OPTS_H
#define NOF_CONTROL_OPTS_H

struct genl_info;
struct nlattr;
struct nof_opts;

/* Fills @opts, defaults included. What the policy cannot say is checked here: -EINVAL with a message. */
int nof_opts_parse(struct nof_opts *opts, struct genl_info *info);
/* A name as CTRL_NEW takes them. -EINVAL with a message. @size: of @to, what the policy allows fits */
int nof_opts_take_string(char *to, size_t size, const struct nlattr *a, struct genl_info *info);

#endif
