/* SPDX-License-Identifier: GPL-2.0-only */
/* CTRL_NEW's attributes as struct nof_opts. */
#ifndef NOF_CONTROL_OPTS_H
#define NOF_CONTROL_OPTS_H

#include <linux/types.h>

struct genl_info;
struct nlattr;
struct nof_ctrl;
struct nof_opts;

/**
 * struct nof_times - times of a controller that are to be changed, ms within what netlink's policy allows
 * A pointer that is NULL leaves its time as it is.
 */
struct nof_times {
	const s32	*delay_ms;
	const s32	*loss_ms;
	const s32	*fail_ms;
	const s32	*stall_ms;
};

/* Fills @opts, defaults included. What the policy cannot say is checked here: -EINVAL with a message. */
int nof_opts_parse(struct nof_opts *opts, struct genl_info *info);
/* A name as CTRL_NEW takes them. -EINVAL with a message. @size: of @to, what the policy allows fits */
int nof_opts_take_string(char *to, size_t size, const struct nlattr *a, struct genl_info *info);
/*
 * Changes them together, and has the timers that run follow. The caller tells listeners. -EINVAL if FAST_IO_FAIL_TMO
 * would be longer than CTRL_LOSS_TMO. Context: process, sleeps.
 */
int nof_opts_set_times(struct nof_ctrl *ctrl, const struct nof_times *times);

#endif
