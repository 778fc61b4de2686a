// SPDX-License-Identifier: GPL-2.0-only
/* Parses the attributes of CTRL_NEW into struct nof_opts: checks syntax, fills in the defaults of core/options.h. */
#include <linux/cpumask.h>
#include <linux/ctype.h>
#include "control/connect_options.h"
#include "control/genl.h"
#include "core/ctrl.h"
#include "core/options.h"
#include "core/subsys.h"

/* An attribute, its member of struct nof_opts, and the bits of opts->given that it sets. */
struct field {
	u16		attr;
	u16		offset;
	u16		size;
	unsigned long	given;
};

#define FIELD_OF(attr, member, bit)	\
	{ attr, offsetof(struct nof_opts, member), sizeof_field(struct nof_opts, member), bit }

static const struct field strings[] = {
	FIELD_OF(NVMEOF_A_TRANSPORT, transport, 0),
	FIELD_OF(NVMEOF_A_TRADDR, traddr, 0),
	FIELD_OF(NVMEOF_A_TRSVCID, trsvcid, 0),
	FIELD_OF(NVMEOF_A_SUBSYSNQN, subsysnqn, 0),
	FIELD_OF(NVMEOF_A_HOSTNQN, hostnqn, 0),
	FIELD_OF(NVMEOF_A_HOST_TRADDR, host_traddr, NOF_OPT_HOST_TRADDR),
	FIELD_OF(NVMEOF_A_HOST_IFACE, host_iface, NOF_OPT_HOST_IFACE),
	FIELD_OF(NVMEOF_A_OWNER, owner, 0),
};

/* The signed times are 32 bits as well. */
static const struct field numbers[] = {
	FIELD_OF(NVMEOF_A_NR_IO_QUEUES, nr_io_queues, 0),
	FIELD_OF(NVMEOF_A_NR_POLL_QUEUES, nr_poll_queues, 0),
	FIELD_OF(NVMEOF_A_QUEUE_SIZE, queue_size, 0),
	FIELD_OF(NVMEOF_A_TAGS, tags, 0),
	FIELD_OF(NVMEOF_A_KATO, kato_ms, 0),
	FIELD_OF(NVMEOF_A_RECONNECT_DELAY, reconnect_delay_ms, 0),
	FIELD_OF(NVMEOF_A_CTRL_LOSS_TMO, ctrl_loss_tmo_ms, 0),
	FIELD_OF(NVMEOF_A_FAST_IO_FAIL_TMO, fast_io_fail_tmo_ms, 0),
	FIELD_OF(NVMEOF_A_CONNECT_TMO, connect_tmo_ms, 0),
	FIELD_OF(NVMEOF_A_STALL_TMO, stall_tmo_ms, 0),
	FIELD_OF(NVMEOF_A_FIRST_CONNECT_TMO, first_connect_tmo_ms, 0),
	FIELD_OF(NVMEOF_A_ACK_TMO, ack_tmo_ms, NOF_OPT_ACK),
	FIELD_OF(NVMEOF_A_RETRY_COUNT, retry_count, NOF_OPT_ACK),
	FIELD_OF(NVMEOF_A_DHCHAP_KEY, dhchap_key, 0),
	FIELD_OF(NVMEOF_A_DHCHAP_CTRL_KEY, dhchap_ctrl_key, 0),
	FIELD_OF(NVMEOF_A_TLS_KEY, tls_key, NOF_OPT_TLS),
	FIELD_OF(NVMEOF_A_TLS_KEYRING, tls_keyring, 0),
};

static void set_defaults(struct nof_opts *opts)
{
	*opts = (struct nof_opts) {
		.trsvcid		= NOF_DEF_TRSVCID,
		.nr_io_queues		= min_t(u32, num_online_cpus(), NOF_MAX_IO_QUEUES),
		.queue_size		= NOF_DEF_QUEUE_SIZE,
		.kato_ms		= NOF_DEF_KATO_MS,
		.reconnect_delay_ms	= NOF_DEF_RECONNECT_DELAY_MS,
		.ctrl_loss_tmo_ms	= NOF_DEF_CTRL_LOSS_TMO_MS,
		.fast_io_fail_tmo_ms	= NOF_DEF_FAST_IO_FAIL_TMO_MS,
		.connect_tmo_ms		= NOF_DEF_CONNECT_TMO_MS,
		.stall_tmo_ms		= NOF_DEF_STALL_TMO_MS,
		.ack_tmo_ms		= NOF_DEF_ACK_TMO_MS,
		.retry_count		= NOF_DEF_RETRY_COUNT,
	};
}

static int check_required(struct genl_info *info)
{
	if (nof_genl_missing(info, NVMEOF_A_TRANSPORT, "TRANSPORT is missing") ||
	    nof_genl_missing(info, NVMEOF_A_TRADDR, "TRADDR is missing") ||
	    nof_genl_missing(info, NVMEOF_A_SUBSYSNQN, "SUBSYSNQN is missing") ||
	    nof_genl_missing(info, NVMEOF_A_HOSTNQN, "HOSTNQN is missing") ||
	    nof_genl_missing(info, NVMEOF_A_HOSTID, "HOSTID is missing"))
		return -EINVAL;
	return 0;
}

/* Names appear unescaped in logs, sysfs and commands: refuse control characters and blanks. UTF-8 is allowed. */
static bool is_clean(const char *s)
{
	for (; *s; s++)
		if ((u8)*s <= ' ' || *s == 0x7f)
			return false;
	return true;
}

int nof_opts_parse_string(char *to, size_t size, const struct nlattr *a, struct genl_info *info)
{
	nla_strscpy(to, a, size);
	if (*to && is_clean(to))
		return 0;
	nof_genl_bad(info->extack, a, "must not be empty or contain blanks or control characters");
	return -EINVAL;
}

static int parse_strings(struct nof_opts *opts, struct genl_info *info)
{
	const struct field *f;
	int err;

	for (f = strings; f < strings + ARRAY_SIZE(strings); f++) {
		struct nlattr *a = info->attrs[f->attr];

		if (!a)
			continue;
		err = nof_opts_parse_string((char *)opts + f->offset, f->size, a, info);
		if (err)
			return err;
		opts->given |= f->given;
	}
	return 0;
}

static void parse_numbers(struct nof_opts *opts, struct genl_info *info)
{
	const struct field *f;

	for (f = numbers; f < numbers + ARRAY_SIZE(numbers); f++)
		if (info->attrs[f->attr]) {
			*(u32 *)((char *)opts + f->offset) = nla_get_u32(info->attrs[f->attr]);
			opts->given |= f->given;
		}
	if (opts->nr_poll_queues)
		opts->given |= NOF_OPT_POLL_QUEUES;
	opts->kato_given = info->attrs[NVMEOF_A_KATO];
}

/*
 * A queue beyond the number of possible CPUs would have no CPU that submits to it, and the block layer warns when it
 * maps CPUs to such queues. The number of possible CPUs is constant.
 */
static void bound_queues(struct nof_opts *opts)
{
	opts->nr_io_queues = min_t(u32, opts->nr_io_queues, num_possible_cpus());
	opts->nr_poll_queues = min_t(u32, opts->nr_poll_queues, num_possible_cpus());
}

static void parse_flags(struct nof_opts *opts, struct genl_info *info)
{
	opts->hdr_digest = info->attrs[NVMEOF_A_HDR_DIGEST];
	opts->data_digest = info->attrs[NVMEOF_A_DATA_DIGEST];
	opts->sq_flow = info->attrs[NVMEOF_A_SQ_FLOW];
	opts->duplicate_connect = info->attrs[NVMEOF_A_DUPLICATE_CONNECT];
	opts->auth_required = info->attrs[NVMEOF_A_AUTH_REQUIRED];
	opts->concat = info->attrs[NVMEOF_A_CONCAT];
	if (opts->concat)
		opts->given |= NOF_OPT_TLS;
	if (opts->hdr_digest)
		opts->given |= NOF_OPT_HDR_DIGEST;
	if (opts->data_digest)
		opts->given |= NOF_OPT_DATA_DIGEST;
	if (info->attrs[NVMEOF_A_TOS]) {
		opts->tos = nla_get_u8(info->attrs[NVMEOF_A_TOS]);
		opts->given |= NOF_OPT_TOS;
	}
}

/* The name becomes part of the name of the module to load: allow only characters of module names. */
static int check_transport(const struct nof_opts *opts, struct genl_info *info)
{
	const char *c;

	for (c = opts->transport; *c; c++) {
		if (islower(*c) || isdigit(*c))
			continue;
		nof_genl_bad(info->extack, info->attrs[NVMEOF_A_TRANSPORT],
			     "invalid transport name: only lower-case letters and digits are allowed");
		return -EINVAL;
	}
	return 0;
}

/* fast_io_fail_tmo can have no effect if ctrl_loss_tmo ends before it. */
static bool times_fit(s32 loss_ms, s32 fail_ms)
{
	return loss_ms < 0 || fail_ms <= loss_ms;
}

int nof_opts_set_timeouts(struct nof_ctrl *ctrl, const struct nof_timeouts *times)
{
	struct nof_opts *opts = &ctrl->opts;
	s32 loss_ms, fail_ms;

	mutex_lock(&ctrl->subsys->lock);
	loss_ms = times->loss_ms ? *times->loss_ms : opts->ctrl_loss_tmo_ms;
	fail_ms = times->fail_ms ? *times->fail_ms : opts->fast_io_fail_tmo_ms;
	if (!times_fit(loss_ms, fail_ms)) {
		mutex_unlock(&ctrl->subsys->lock);
		return -EINVAL;
	}
	/* the core reads each of them separately, without the lock */
	if (times->delay_ms)
		WRITE_ONCE(opts->reconnect_delay_ms, *times->delay_ms);
	if (times->stall_ms)
		WRITE_ONCE(opts->stall_tmo_ms, *times->stall_ms);
	WRITE_ONCE(opts->ctrl_loss_tmo_ms, loss_ms);
	WRITE_ONCE(opts->fast_io_fail_tmo_ms, fail_ms);
	mutex_unlock(&ctrl->subsys->lock);
	/* this starts the next connect attempt at once, which stall_tmo, used only while connected, does not need */
	if (times->delay_ms || times->loss_ms || times->fail_ms)
		nof_ctrl_timers_changed(ctrl);
	return 0;
}

static int check_times(const struct nof_opts *opts, struct genl_info *info)
{
	if (!times_fit(opts->ctrl_loss_tmo_ms, opts->fast_io_fail_tmo_ms)) {
		nof_genl_bad(info->extack, info->attrs[NVMEOF_A_FAST_IO_FAIL_TMO],
			     "FAST_IO_FAIL_TMO is longer than CTRL_LOSS_TMO");
		return -EINVAL;
	}
	return 0;
}

static int check_auth(const struct nof_opts *opts, struct genl_info *info)
{
	if (!opts->auth_required || opts->dhchap_key)
		return 0;
	nof_genl_bad(info->extack, info->attrs[NVMEOF_A_AUTH_REQUIRED],
		     "AUTH_REQUIRED needs DHCHAP_KEY: the host authenticates itself by it");
	return -EINVAL;
}

static int check_concat(const struct nof_opts *opts, struct genl_info *info)
{
	struct nlattr *a = info->attrs[NVMEOF_A_CONCAT];

	if (!opts->concat)
		return 0;
	if (opts->tls_key)
		nof_genl_bad(info->extack, a, "CONCAT excludes TLS_KEY: the authentication generates the key");
	else if (strcmp(opts->transport, "tcp"))
		nof_genl_bad(info->extack, a, "CONCAT needs transport tcp");
	else if (!opts->dhchap_key)
		nof_genl_bad(info->extack, a, "CONCAT needs DHCHAP_KEY: the host's authentication generates the key");
	else
		return 0;
	return -EINVAL;
}

int nof_opts_check_tls(struct genl_info *info)
{
	if (!info->attrs[NVMEOF_A_TLS_KEYRING] || info->attrs[NVMEOF_A_TLS_KEY])
		return 0;
	nof_genl_bad(info->extack, info->attrs[NVMEOF_A_TLS_KEYRING], "TLS_KEYRING needs TLS_KEY");
	return -EINVAL;
}

int nof_opts_parse(struct nof_opts *opts, struct genl_info *info)
{
	struct nlattr *hostid = info->attrs[NVMEOF_A_HOSTID];
	int err;

	set_defaults(opts);
	opts->net = genl_info_net(info);
	err = check_required(info) ?: parse_strings(opts, info);
	if (err)
		return err;
	parse_numbers(opts, info);
	bound_queues(opts);
	parse_flags(opts, info);
	nla_memcpy(opts->hostid, hostid, sizeof(opts->hostid));
	/* NVMe Base 2.0, 5.27.1.25: zero means no Host Identifier; NVMe over Fabrics requires one. */
	if (!memchr_inv(opts->hostid, 0, sizeof(opts->hostid))) {
		nof_genl_bad(info->extack, hostid, "the host ID is all zeros: give a UUID");
		return -EINVAL;
	}
	return check_transport(opts, info) ?: check_times(opts, info) ?: check_auth(opts, info) ?:
	       nof_opts_check_tls(info) ?: check_concat(opts, info);
}
