// SPDX-License-Identifier: GPL-2.0-only
/* The key of a controller whose connections use TLS */
#include <linux/err.h>
#include <linux/key-type.h>
#include <linux/key.h>
#include <linux/ktime.h>
#include <linux/netlink.h>
#include <linux/string.h>
#include "compat/tls.h"
#include "core/ctrl.h"
#include "core/tls_key.h"

void nof_tls_key_init(struct nof_ctrl *ctrl)
{
	mutex_init(&ctrl->tls.lock);
}

void nof_tls_key_exit(struct nof_ctrl *ctrl)
{
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
