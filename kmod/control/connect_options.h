/* SPDX-License-Identifier: GPL-2.0-only */
/* Parser of the attributes of CTRL_NEW into struct nof_opts. */
#ifndef NOF_CONTROL_CONNECT_OPTIONS_H
#define NOF_CONTROL_CONNECT_OPTIONS_H

#include <linux/types.h>

struct genl_info;
struct nlattr;
struct nof_ctrl;
struct nof_opts;

/**
 * struct nof_timeouts - new timeouts of a controller, in ms, within the ranges of the netlink policy
 * A NULL pointer leaves its timeout unchanged.
 */
struct nof_timeouts {
	const s32	*delay_ms;
	const s32	*loss_ms;
	const s32	*fail_ms;
	const s32	*stall_ms;
};

/* Fills @opts, defaults included, and checks what the netlink policy cannot: -EINVAL with an extack message. */
int nof_opts_parse(struct nof_opts *opts, struct genl_info *info);
/* Refuses TLS_KEYRING without TLS_KEY: -EINVAL with an extack message */
int nof_opts_check_tls(struct genl_info *info);
/*
 * Copies @a to @to. -EINVAL with an extack message if it is empty or has blanks or control characters. @size: size of
 * @to, large enough for the longest string that the policy allows.
 */
int nof_opts_parse_string(char *to, size_t size, const struct nlattr *a, struct genl_info *info);
/*
 * Changes all timeouts or none, and adapts running timers. -EINVAL if FAST_IO_FAIL_TMO would be longer than
 * CTRL_LOSS_TMO. The caller sends the CHANGED event. Context: process, may sleep.
 */
int nof_opts_set_timeouts(struct nof_ctrl *ctrl, const struct nof_timeouts *times);

#endif
