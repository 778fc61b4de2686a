// SPDX-License-Identifier: GPL-2.0-only
/* Netlink policy tables. */
#include <linux/cache.h>
#include "control/genl_policy.h"
#include "core/options.h"

#define NOF_NAME_POLICY(max)	{ .type = NLA_NUL_STRING, .len = (max) }

static struct netlink_range_validation nof_range_kato __ro_after_init = { .max = NOF_MAX_TIME_MS };
static struct netlink_range_validation nof_range_delay __ro_after_init = {
	.min = NOF_MIN_RECONNECT_DELAY_MS,
	.max = NOF_MAX_TIME_MS,
};
static struct netlink_range_validation nof_range_connect __ro_after_init = {
	.min = NOF_MIN_CONNECT_TMO_MS,
	.max = NOF_MAX_TIME_MS,
};
static struct netlink_range_validation nof_range_stall __ro_after_init = { .max = NOF_MAX_TIME_MS };
static struct netlink_range_validation nof_range_spill __ro_after_init = { .max = NVMEOF_SPILL_US_MAX };
static struct netlink_range_validation nof_range_removal __ro_after_init = { .max = NVMEOF_DELAYED_REMOVAL_MAX };
static struct netlink_range_validation nof_range_quiesce __ro_after_init = { .max = NVMEOF_QUIESCE_TMO_MAX };
static struct netlink_range_validation_signed nof_range_tmo __ro_after_init = { .min = -1, .max = S32_MAX };

const struct nla_policy nof_policy_subsys_get[NVMEOF_A_SUBSYS_ID + 1] = {
	[NVMEOF_A_SUBSYS_ID]		= { .type = NLA_U32 },
};

const struct nla_policy nof_policy_subsys_set[NVMEOF_A_QUIESCE_TMO + 1] = {
	[NVMEOF_A_SUBSYS_ID]		= { .type = NLA_U32 },
	[NVMEOF_A_IOPOLICY]		= NOF_NAME_POLICY(NVMEOF_POLICY_MAX),
	[NVMEOF_A_SPILL_US]		= NLA_POLICY_FULL_RANGE(NLA_U32, &nof_range_spill),
	[NVMEOF_A_SPILL_DEPTH]		= NLA_POLICY_MAX(NLA_U32, NVMEOF_SPILL_DEPTH_MAX),
	[NVMEOF_A_DEGRADE]		= NLA_POLICY_MAX(NLA_U8, 1),
	[NVMEOF_A_FENCING]		= NLA_POLICY_MAX(NLA_U32, NVMEOF_FENCING_AUTO),
	[NVMEOF_A_DELAYED_REMOVAL]	= NLA_POLICY_FULL_RANGE(NLA_U32, &nof_range_removal),
	[NVMEOF_A_QUIESCE_TMO]		= NLA_POLICY_FULL_RANGE(NLA_U32, &nof_range_quiesce),
};

const struct nla_policy nof_policy_ctrl_new[NVMEOF_A_CONCAT + 1] = {
	[NVMEOF_A_SUBSYSNQN]		= NOF_NAME_POLICY(NVMEOF_NQN_MAX),
	[NVMEOF_A_HOSTNQN]		= NOF_NAME_POLICY(NVMEOF_NQN_MAX),
	[NVMEOF_A_HOSTID]		= NLA_POLICY_EXACT_LEN(NVMEOF_HOSTID_LEN),
	[NVMEOF_A_TRANSPORT]		= NOF_NAME_POLICY(NVMEOF_POLICY_MAX),
	[NVMEOF_A_TRADDR]		= NOF_NAME_POLICY(NVMEOF_TRADDR_MAX),
	[NVMEOF_A_TRSVCID]		= NOF_NAME_POLICY(NVMEOF_TRADDR_MAX),
	[NVMEOF_A_HOST_TRADDR]		= NOF_NAME_POLICY(NVMEOF_TRADDR_MAX),
	[NVMEOF_A_HOST_IFACE]		= NOF_NAME_POLICY(NVMEOF_TRADDR_MAX),
	[NVMEOF_A_NR_IO_QUEUES]		= NLA_POLICY_RANGE(NLA_U32, 1, NOF_MAX_IO_QUEUES),
	[NVMEOF_A_NR_POLL_QUEUES]	= NLA_POLICY_MAX(NLA_U32, NOF_MAX_IO_QUEUES),
	[NVMEOF_A_QUEUE_SIZE]		= NLA_POLICY_RANGE(NLA_U32, NOF_MIN_QUEUE_SIZE, NOF_MAX_QUEUE_SIZE),
	[NVMEOF_A_TAGS]			= NLA_POLICY_RANGE(NLA_U32, NOF_MIN_TAGS, NOF_MAX_TAGS),
	[NVMEOF_A_KATO]			= NLA_POLICY_FULL_RANGE(NLA_U32, &nof_range_kato),
	[NVMEOF_A_RECONNECT_DELAY]	= NLA_POLICY_FULL_RANGE(NLA_U32, &nof_range_delay),
	[NVMEOF_A_CTRL_LOSS_TMO]	= NLA_POLICY_FULL_RANGE_SIGNED(NLA_S32, &nof_range_tmo),
	[NVMEOF_A_FAST_IO_FAIL_TMO]	= NLA_POLICY_FULL_RANGE_SIGNED(NLA_S32, &nof_range_tmo),
	[NVMEOF_A_CONNECT_TMO]		= NLA_POLICY_FULL_RANGE(NLA_U32, &nof_range_connect),
	[NVMEOF_A_TOS]			= { .type = NLA_U8 },
	[NVMEOF_A_HDR_DIGEST]		= { .type = NLA_FLAG },
	[NVMEOF_A_DATA_DIGEST]		= { .type = NLA_FLAG },
	[NVMEOF_A_SQ_FLOW]		= { .type = NLA_FLAG },
	[NVMEOF_A_DUPLICATE_CONNECT]	= { .type = NLA_FLAG },
	[NVMEOF_A_STALL_TMO]		= NLA_POLICY_FULL_RANGE(NLA_U32, &nof_range_stall),
	[NVMEOF_A_OWNER]		= NOF_NAME_POLICY(NVMEOF_NAME_MAX),
	[NVMEOF_A_FIRST_CONNECT_TMO]	= NLA_POLICY_FULL_RANGE_SIGNED(NLA_S32, &nof_range_tmo),
	[NVMEOF_A_ACK_TMO]		= NLA_POLICY_RANGE(NLA_U32, 1, NOF_MAX_ACK_TMO_MS),
	[NVMEOF_A_RETRY_COUNT]		= NLA_POLICY_MAX(NLA_U32, NOF_MAX_RETRY_COUNT),
	[NVMEOF_A_DHCHAP_KEY]		= NLA_POLICY_MIN(NLA_U32, 1),
	[NVMEOF_A_DHCHAP_CTRL_KEY]	= NLA_POLICY_MIN(NLA_U32, 1),
	[NVMEOF_A_TLS_KEY]		= NLA_POLICY_MIN(NLA_U32, 1),
	[NVMEOF_A_TLS_KEYRING]		= NLA_POLICY_MIN(NLA_U32, 1),
	[NVMEOF_A_AUTH_REQUIRED]	= { .type = NLA_FLAG },
	[NVMEOF_A_CONCAT]		= { .type = NLA_FLAG },
};

const struct nla_policy nof_policy_ctrl_name[NVMEOF_A_CTRL_NAME + 1] = {
	[NVMEOF_A_CTRL_NAME]		= NOF_NAME_POLICY(NVMEOF_NAME_MAX),
};

const struct nla_policy nof_policy_ctrl_del[NVMEOF_A_CTRL_NAME + 1] = {
	[NVMEOF_A_CTRL_NAME]		= NOF_NAME_POLICY(NVMEOF_NAME_MAX),
	[NVMEOF_A_SUBSYSNQN]		= NOF_NAME_POLICY(NVMEOF_NQN_MAX),
};

const struct nla_policy nof_policy_ctrl_set[NVMEOF_A_TLS_KEYRING + 1] = {
	[NVMEOF_A_CTRL_NAME]		= NOF_NAME_POLICY(NVMEOF_NAME_MAX),
	[NVMEOF_A_RECONNECT_DELAY]	= NLA_POLICY_FULL_RANGE(NLA_U32, &nof_range_delay),
	[NVMEOF_A_CTRL_LOSS_TMO]	= NLA_POLICY_FULL_RANGE_SIGNED(NLA_S32, &nof_range_tmo),
	[NVMEOF_A_FAST_IO_FAIL_TMO]	= NLA_POLICY_FULL_RANGE_SIGNED(NLA_S32, &nof_range_tmo),
	[NVMEOF_A_STALL_TMO]		= NLA_POLICY_FULL_RANGE(NLA_U32, &nof_range_stall),
	[NVMEOF_A_OWNER]		= NOF_NAME_POLICY(NVMEOF_NAME_MAX),
	[NVMEOF_A_DHCHAP_KEY]		= NLA_POLICY_MIN(NLA_U32, 1),
	[NVMEOF_A_DHCHAP_CTRL_KEY]	= NLA_POLICY_MIN(NLA_U32, 1),
	[NVMEOF_A_TLS_KEY]		= NLA_POLICY_MIN(NLA_U32, 1),
	[NVMEOF_A_TLS_KEYRING]		= NLA_POLICY_MIN(NLA_U32, 1),
};

const struct nla_policy nof_policy_ctrl_get[NVMEOF_A_CTRL_NAME + 1] = {
	[NVMEOF_A_SUBSYS_ID]		= { .type = NLA_U32 },
	[NVMEOF_A_CTRL_NAME]		= NOF_NAME_POLICY(NVMEOF_NAME_MAX),
};

const struct nla_policy nof_policy_ns_get[NVMEOF_A_NS_NAME + 1] = {
	[NVMEOF_A_SUBSYS_ID]		= { .type = NLA_U32 },
	[NVMEOF_A_NS_NAME]		= NOF_NAME_POLICY(NVMEOF_NAME_MAX),
};

const struct nla_policy nof_policy_path_get[NVMEOF_A_PATH_NAME + 1] = {
	[NVMEOF_A_CTRL_NAME]		= NOF_NAME_POLICY(NVMEOF_NAME_MAX),
	[NVMEOF_A_NS_NAME]		= NOF_NAME_POLICY(NVMEOF_NAME_MAX),
	[NVMEOF_A_PATH_NAME]		= NOF_NAME_POLICY(NVMEOF_NAME_MAX),
};

const struct nla_policy nof_policy_transport_keep[NVMEOF_A_TRANSPORT + 1] = {
	[NVMEOF_A_TRANSPORT]		= NOF_NAME_POLICY(NVMEOF_POLICY_MAX),
};
