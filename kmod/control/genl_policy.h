/* SPDX-License-Identifier: GPL-2.0-only */
/* Attributes that each netlink command accepts. An attribute that is not in the table of a command is refused. */
#ifndef NOF_CONTROL_GENL_POLICY_H
#define NOF_CONTROL_GENL_POLICY_H

#include <net/netlink.h>
#include <uapi/linux/nvmeof.h>

/* Each array ends with the highest attribute of its command. The do and dump of a command share one table. */
extern const struct nla_policy nof_policy_subsys_get[NVMEOF_A_SUBSYS_ID + 1];
extern const struct nla_policy nof_policy_subsys_set[NVMEOF_A_QUIESCE_TMO + 1];
extern const struct nla_policy nof_policy_ctrl_new[NVMEOF_A_CONCAT + 1];
extern const struct nla_policy nof_policy_ctrl_name[NVMEOF_A_CTRL_NAME + 1];
extern const struct nla_policy nof_policy_ctrl_del[NVMEOF_A_CTRL_NAME + 1];
extern const struct nla_policy nof_policy_ctrl_set[NVMEOF_A_TLS_KEYRING + 1];
extern const struct nla_policy nof_policy_ctrl_get[NVMEOF_A_CTRL_NAME + 1];
extern const struct nla_policy nof_policy_ns_get[NVMEOF_A_NS_NAME + 1];
extern const struct nla_policy nof_policy_path_get[NVMEOF_A_PATH_NAME + 1];
extern const struct nla_policy nof_policy_transport_keep[NVMEOF_A_TRANSPORT + 1];

#endif
