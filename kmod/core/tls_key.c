// SPDX-License-Identifier: GPL-2.0-only
/* The key of a controller whose connections use TLS */
#include <linux/err.h>
#include <linux/key-type.h>
#include <linux/key.h>
#include <linux/ktime.h>
#include <linux/netlink.h>
#include <linux/string.h>
#include <linux/uidgid.h>
#include "compat/tls.h"
#include "core/ctrl.h"
#include "core/tls_key.h"
#include "wire/tls_psk.h"

void nof_tls_key_init(struct nof_ctrl *ctrl)
{
	mutex_init(&ctrl->tls.lock);
}

void nof_tls_key_exit(struct nof_ctrl *ctrl)
{
	nof_tls_key_forget(ctrl);
	key_put(ctrl->tls.key);
}

struct key *nof_tls_key_find(u32 serial, struct netlink_ext_ack *extack)
{
	struct key *key;
	int ret;

	if (!serial)
		return NULL;
	if (!NOF_TLS) {
		NL_SET_ERR_MSG(extack, "TLS needs a kernel with CONFIG_NET_HANDSHAKE, CONFIG_TLS and "
			       "CONFIG_NVME_KEYRING, such as Debian's 6.12");
		return ERR_PTR(-EOPNOTSUPP);
	}
	key = key_lookup(serial);
	if (IS_ERR(key)) {
		NL_SET_ERR_MSG(extack, "there is no TLS key with this serial number");
		return ERR_PTR(-ENOKEY);
	}
	if (strcmp(key->type->name, "psk")) {
		NL_SET_ERR_MSG(extack, "the TLS key is not of type psk");
		key_put(key);
		return ERR_PTR(-EINVAL);
	}
	ret = key_validate(key);
	if (!ret)
		return key;
	NL_SET_ERR_MSG(extack, "the TLS key was revoked or has expired");
	key_put(key);
	return ERR_PTR(ret);
}

void nof_tls_key_use(struct nof_ctrl *ctrl, struct key *key, u32 keyring)
{
	if (!key)
		return;
	mutex_lock(&ctrl->tls.lock);
	swap(key, ctrl->tls.key);
	ctrl->tls.keyring = keyring;
	ctrl->tls.since = ktime_get_boottime_ns();
	mutex_unlock(&ctrl->tls.lock);
	key_put(key);
}

/*
 * Not in the keyring .nvme: there, other controllers and a target on this machine may have a key of the same name, and
 * revoking one would revoke both. Root can see the name of the key; reading it takes a link to the keyring.
 */
#if NOF_TLS
#define OWN_KEYRING_PERM	(KEY_POS_SEARCH | KEY_POS_WRITE | KEY_POS_LINK | KEY_USR_LINK)
#define OWN_KEY_PERM		(KEY_POS_VIEW | KEY_POS_READ | KEY_POS_SEARCH | KEY_USR_VIEW)

/* Returns the new key, alone in a new keyring, with references to both, or an ERR_PTR. */
static struct key *own_key_create(struct nof_ctrl *ctrl, const struct nof_tls_psk *psk, struct key **keyring)
{
	key_ref_t ref;

	*keyring = keyring_alloc(nof_ctrl_name(ctrl), GLOBAL_ROOT_UID, GLOBAL_ROOT_GID, current_cred(),
				 OWN_KEYRING_PERM, KEY_ALLOC_NOT_IN_QUOTA, NULL, NULL);
	if (IS_ERR(*keyring))
		return *keyring;
	ref = key_create_or_update(make_key_ref(*keyring, true), "psk", psk->identity, psk->key, psk->len,
				   OWN_KEY_PERM, KEY_ALLOC_NOT_IN_QUOTA);
	if (!IS_ERR(ref))
		return key_ref_to_ptr(ref);
	key_put(*keyring);
	return ERR_CAST(ref);
}

int nof_tls_key_generated(struct nof_ctrl *ctrl, const struct nof_tls_psk *psk)
{
	struct key *keyring, *key = own_key_create(ctrl, psk, &keyring);

	/* the type psk is that of a module; -ENODEV tells that there is none */
	if (IS_ERR(key))
		return PTR_ERR(key) == -ENODEV ? -ENOKEY : PTR_ERR(key);
	nof_tls_key_forget(ctrl);
	mutex_lock(&ctrl->tls.lock);
	WRITE_ONCE(ctrl->tls.key, key);
	ctrl->tls.own = keyring;
	ctrl->tls.keyring = key_serial(keyring);
	ctrl->tls.since = ktime_get_boottime_ns();
	mutex_unlock(&ctrl->tls.lock);
	return 0;
}

void nof_tls_key_forget(struct nof_ctrl *ctrl)
{
	struct key *key = NULL, *keyring;

	mutex_lock(&ctrl->tls.lock);
	keyring = ctrl->tls.own;
	if (keyring) {
		key = ctrl->tls.key;
		WRITE_ONCE(ctrl->tls.key, NULL);
		ctrl->tls.own = NULL;
		ctrl->tls.keyring = 0;
	}
	mutex_unlock(&ctrl->tls.lock);
	if (!keyring)
		return;
	key_revoke(key);
	key_put(key);
	key_put(keyring);
}
#else
int nof_tls_key_generated(struct nof_ctrl *ctrl, const struct nof_tls_psk *psk)
{
	return -EOPNOTSUPP;
}

void nof_tls_key_forget(struct nof_ctrl *ctrl) { }
#endif

struct key *nof_tls_key_get(struct nof_ctrl *ctrl, u32 *keyring)
{
	struct key *key;
	int ret;

	mutex_lock(&ctrl->tls.lock);
	key = key_get(ctrl->tls.key);
	*keyring = ctrl->tls.keyring;
	mutex_unlock(&ctrl->tls.lock);
	if (!key)
		return ERR_PTR(-ENOKEY);
	ret = key_validate(key);
	if (!ret)
		return key;
	key_put(key);
	return ERR_PTR(ret);
}
EXPORT_SYMBOL_GPL(nof_tls_key_get);

bool nof_tls_key_set(const struct nof_ctrl *ctrl)
{
	return READ_ONCE(ctrl->tls.key);
}
EXPORT_SYMBOL_GPL(nof_tls_key_set);
