/* SPDX-License-Identifier: GPL-2.0-only */
/* Internal interface of core/auth.c and core/auth_keys.c: which keys an authentication uses, and its result. */
#ifndef NOF_CORE_AUTH_KEYS_H
#define NOF_CORE_AUTH_KEYS_H

#include "core/auth.h"

struct nof_dhchap_secret;

/* Kernels with the in-tree driver's keyring export key_lookup(). Without FFDHE there would be only the NULL group. */
#define NOF_AUTH_SUPPORTED	(IS_ENABLED(CONFIG_NVME_KEYRING) && IS_ENABLED(CONFIG_CRYPTO_DH_RFC7919_GROUPS))

/* Returns 0, -EKEYREVOKED, -EKEYEXPIRED, or -EINVAL with @why set. The caller wipes @secret. Context: process. */
int nof_auth_read_secret(struct key *key, struct nof_dhchap_secret *secret, const char **why);
/*
 * Takes references to the keys for an authentication of queue @qid; @again: of a live controller, with the new keys. A
 * connect attempt uses those that have succeeded so far, unless the last attempt has shown that they are refused. Its
 * I/O queues use those of its admin queue. Returns true for the new keys.
 */
bool nof_auth_choose_keys(struct nof_ctrl *ctrl, u16 qid, bool again, struct nof_auth_keys *keys);
/* True if the controller has to authenticate itself, too */
bool nof_auth_wants_proof(struct nof_ctrl *ctrl);
/*
 * Whether the peer of the connection has TLS with a key that was generated without a proof of the controller. It may be
 * an impostor, who passes on the challenges of the target: the host answers none on such a connection.
 */
bool nof_auth_peer_unproven(struct nof_ctrl *ctrl);
/* The admin queue has been authenticated with @keys, which are now those in use. */
void nof_auth_keys_succeeded(struct nof_ctrl *ctrl, const struct nof_auth_keys *keys);
/* A connect attempt has failed with @err. If it blames the keys, the next attempt tries the other ones. */
void nof_auth_keys_failed(struct nof_ctrl *ctrl, bool next, int err);
/*
 * The result of a re-authentication with @keys, for nof_auth_wait(). Keys that failed are dropped. @unknown: the
 * connection ended before the controller's answer, which may have accepted them: a reconnect finds out.
 */
void nof_auth_keys_tried(struct nof_ctrl *ctrl, const struct nof_auth_keys *keys, int err, bool unknown,
			 const char *why);
/* There was no re-authentication: 0, because a connect attempt will use the keys, or an error before they were used. */
void nof_auth_keys_not_tried(struct nof_ctrl *ctrl, int err, const char *why);

#endif
