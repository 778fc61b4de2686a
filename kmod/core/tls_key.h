/* SPDX-License-Identifier: GPL-2.0-only */
/* The key of a controller whose connections use TLS (NVMe TCP Transport 1.0, 3.6.1). The transport hands it over. */
#ifndef NOF_CORE_TLS_KEY_H
#define NOF_CORE_TLS_KEY_H

#include <linux/mutex.h>
#include <linux/types.h>

struct key;
struct netlink_ext_ack;
struct nof_ctrl;
struct nof_tls_psk;

/**
 * struct nof_ctrl_tls - TLS of a controller
 * @lock:	protects @key to @since; short sections
 * @key:	of type "psk"; NULL: the next connection does not use TLS. Userspace can replace its own, not remove it
 * @keyring:	serial number of the keyring that gives the TLS agent access to @key, or 0
 * @own:	with a generated @key, a keyring that has it alone; otherwise NULL
 * @since:	when userspace gave @key to the driver, or it was generated, CLOCK_BOOTTIME ns
 * @at:	when the handshake of the admin queue ended, CLOCK_BOOTTIME ns
 * @used:	serial number of the key that the agent has used for the admin queue
 * @cipher:	of the admin queue, TLS_CIPHER_*; 0: it is not connected with TLS
 */
struct nof_ctrl_tls {
	struct mutex	lock;
	struct key	*key;
	u32		keyring;
	struct key	*own;
	u64		since;
	u64		at;
	u32		used;
	u16		cipher;
};

void nof_tls_key_init(struct nof_ctrl *ctrl);
/* Drops the key. Context: process, the last reference to the controller is gone. */
void nof_tls_key_exit(struct nof_ctrl *ctrl);
/*
 * Finds and checks a key; 0 as @serial: none. Returns it with a reference, NULL, or an ERR_PTR with an extack message:
 * -ENOKEY, -EKEYREVOKED, -EKEYEXPIRED, -EINVAL (another type), or -EOPNOTSUPP (this kernel has no TLS for the driver).
 */
struct key *nof_tls_key_find(u32 serial, struct netlink_ext_ack *extack);
/* Has the controller use this key from the next connection on. Takes the reference. NULL: no change */
void nof_tls_key_use(struct nof_ctrl *ctrl, struct key *key, u32 keyring);
/*
 * Has the controller use a key that its authentication has generated, until nof_tls_key_forget(). It is in a keyring of
 * its own, from which only root can read it: the TLS agent. Returns 0 or a negative errno; -ENOKEY: the module
 * nvme-keyring is not loaded; -EOPNOTSUPP: this kernel has no TLS for the driver. Context: process, sleeps.
 */
int nof_tls_key_generated(struct nof_ctrl *ctrl, const struct nof_tls_psk *psk);
/* Revokes a generated key, which erases it. Keys of userspace stay. Context: process, without connections. */
void nof_tls_key_forget(struct nof_ctrl *ctrl);
/* Returns the key with a reference, or an ERR_PTR: -ENOKEY, -EKEYREVOKED, -EKEYEXPIRED */
struct key *nof_tls_key_get(struct nof_ctrl *ctrl, u32 *keyring);
/* Returns whether the controller's next connections use TLS */
bool nof_tls_key_set(const struct nof_ctrl *ctrl);

#endif
