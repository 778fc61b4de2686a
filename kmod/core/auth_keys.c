// SPDX-License-Identifier: GPL-2.0-only
/* The keys of a controller: those in use, and new ones until they have succeeded or failed. */
#include <keys/user-type.h>
#include <linux/key.h>
#include <linux/ktime.h>
#include <linux/netlink.h>
#include <linux/rcupdate.h>
#include <linux/string.h>
#include "core/auth_keys.h"
#include "core/ctrl.h"
#include "core/lifecycle.h"
#include "core/tls_key.h"
#include "core/work.h"
#include "wire/dhchap.h"

#define SECRET_TEXT_MAX	128	/* bytes; the longest secret has 104 with a newline and a NUL */

/* Does not take the key's semaphore: its holder may allocate memory, and so wait for a disk that waits for us. */
int nof_auth_read_secret(struct key *key, struct nof_dhchap_secret *secret, const char **why)
{
	const struct user_key_payload *payload;
	char text[SECRET_TEXT_MAX];
	int ret = key_validate(key);
	u32 len = 0;

	rcu_read_lock();
	payload = user_key_payload_rcu(key);
	if (payload)
		len = payload->datalen;
	if (payload && len <= sizeof(text))
		memcpy(text, payload->data, len);
	rcu_read_unlock();
	if (!ret && !payload)
		ret = -EKEYREVOKED;
	if (!ret) {
		*why = len <= sizeof(text) ? nof_dhchap_parse_secret(text, len, secret) : "too long";
		ret = *why ? -EINVAL : 0;
	}
	memzero_explicit(text, sizeof(text));
	return ret;
}

/* Returns the key with this serial number, with a reference, after checking that it has a secret, or an ERR_PTR. */
static struct key *find_key(u32 serial, struct netlink_ext_ack *extack)
{
	struct nof_dhchap_secret secret = {};
	struct key *key = key_lookup(serial);
	const char *why = NULL;
	int ret;

	if (IS_ERR(key)) {
		NL_SET_ERR_MSG(extack, "there is no key with this serial number");
		return ERR_PTR(-ENOKEY);
	}
	if (key->type != &key_type_logon && key->type != &key_type_user) {
		NL_SET_ERR_MSG(extack, "the key is neither of type logon nor of type user");
		key_put(key);
		return ERR_PTR(-EINVAL);
	}
	ret = nof_auth_read_secret(key, &secret, &why);
	memzero_explicit(&secret, sizeof(secret));
	if (!ret)
		return key;
	if (why)
		NL_SET_ERR_MSG(extack, "the key has no DH-HMAC-CHAP secret: wrong form, length or checksum");
	else
		NL_SET_ERR_MSG(extack, "the key was revoked or has expired");
	key_put(key);
	return ERR_PTR(ret);
}

/* A key of the host, once set, stays: without the lock, at worst a refusal comes too early */
static bool host_key_missing(struct nof_ctrl *ctrl, const struct nof_auth_keys *keys)
{
	return !keys->key && !READ_ONCE(ctrl->auth.keys.key);
}

int nof_auth_find_keys(struct nof_ctrl *ctrl, u32 serial, u32 ctrl_serial, struct nof_auth_keys *keys,
		       struct netlink_ext_ack *extack)
{
	struct key *key;

	if (!serial && !ctrl_serial)
		return 0;
	if (!NOF_AUTH_SUPPORTED) {
		NL_SET_ERR_MSG(extack, "authentication needs a kernel with CONFIG_NVME_KEYRING and "
			       "CONFIG_CRYPTO_DH_RFC7919_GROUPS, such as Debian's 6.12");
		return -EOPNOTSUPP;
	}
	if (serial) {
		key = find_key(serial, extack);
		if (IS_ERR(key))
			return PTR_ERR(key);
		keys->key = key;
	}
	if (host_key_missing(ctrl, keys)) {
		NL_SET_ERR_MSG(extack, "DHCHAP_CTRL_KEY needs DHCHAP_KEY: the host authenticates itself first");
		return -EINVAL;
	}
	if (ctrl_serial) {
		key = find_key(ctrl_serial, extack);
		if (IS_ERR(key)) {
			nof_auth_put_keys(keys);
			return PTR_ERR(key);
		}
		keys->ctrl_key = key;
	}
	return 0;
}

void nof_auth_put_keys(struct nof_auth_keys *keys)
{
	key_put(keys->key);
	key_put(keys->ctrl_key);
	*keys = (struct nof_auth_keys){};
}

u32 nof_auth_key_serial(struct nof_ctrl *ctrl, u64 *since)
{
	u32 serial;

	mutex_lock(&ctrl->auth.lock);
	serial = key_serial(ctrl->auth.keys.key);
	*since = ctrl->auth.keys.since;
	mutex_unlock(&ctrl->auth.lock);
	return serial;
}

static struct nof_auth_keys keys_get(const struct nof_auth_keys *keys)
{
	return (struct nof_auth_keys){ key_get(keys->key), key_get(keys->ctrl_key), keys->since };
}

static bool keys_same(const struct nof_auth_keys *a, const struct nof_auth_keys *b)
{
	return a->key == b->key && a->ctrl_key == b->ctrl_key;
}

/* Stores @keys, completed by those they replace, as the next ones, or, without any in use, as those in use. */
static void keys_store(struct nof_ctrl_auth *auth, struct nof_auth_keys *keys)
{
	struct nof_auth_keys *to = auth->keys.key ? &auth->next : &auth->keys;
	const struct nof_auth_keys *from = auth->next.key ? &auth->next : &auth->keys;

	lockdep_assert_held(&auth->lock);
	if (!keys->key)
		keys->key = key_get(from->key);
	if (!keys->ctrl_key)
		keys->ctrl_key = key_get(from->ctrl_key);
	keys->since = ktime_get_boottime_ns();
	swap(*keys, *to);
	auth->next_tried = false;
	auth->next_failed = false;
}

/*
 * Has the new keys tried if the controller is live and was authenticated. stop_works() cancels the work after the state
 * has changed.
 */
static bool reauth_queue(struct nof_ctrl *ctrl)
{
	struct nof_ctrl_auth *auth = &ctrl->auth;
	unsigned long flags;
	bool again;

	lockdep_assert_held(&auth->lock);
	spin_lock_irqsave(&ctrl->state_lock, flags);
	again = ctrl->state == NVMEOF_CTRL_LIVE && READ_ONCE(auth->at) && !nof_auth_peer_unproven(ctrl);
	if (again)
		queue_work(nof_wq, &auth->work);
	spin_unlock_irqrestore(&ctrl->state_lock, flags);
	return again;
}

void nof_auth_use_keys(struct nof_ctrl *ctrl, struct nof_auth_keys *keys)
{
	struct nof_ctrl_auth *auth = &ctrl->auth;

	if (!keys->key && !keys->ctrl_key)
		return;
	mutex_lock(&ctrl->auth.lock);
	keys_store(auth, keys);
	auth->result = reauth_queue(ctrl) ? -EINPROGRESS : 0;
	mutex_unlock(&ctrl->auth.lock);
	nof_auth_put_keys(keys);
	/* it may have been refused until now */
	if (test_bit(NOF_CTRL_EVER_LIVE, &ctrl->flags))
		nof_reconnect_now(ctrl);
}

void nof_auth_start(struct nof_ctrl *ctrl)
{
	struct nof_ctrl_auth *auth = &ctrl->auth;

	mutex_lock(&ctrl->auth.lock);
	/* nof_auth_use_keys() may have seen the state already: its work has the result to store */
	if (auth->next.key && !auth->next_tried && !work_busy(&auth->work) && reauth_queue(ctrl))
		auth->result = -EINPROGRESS;
	mutex_unlock(&ctrl->auth.lock);
}

int nof_auth_wait(struct nof_ctrl *ctrl, char *text, size_t size)
{
	struct nof_ctrl_auth *auth = &ctrl->auth;
	bool again;
	int ret;

	do {
		flush_work(&auth->work);
		mutex_lock(&ctrl->auth.lock);
		ret = auth->result;
		strscpy(text, auth->failure, size);
		/* new keys are stored and the work is queued in one section; it may also have been cancelled */
		again = ret == -EINPROGRESS && work_busy(&auth->work);
		mutex_unlock(&ctrl->auth.lock);
	} while (again);
	if (ret != -EINPROGRESS)
		return ret;
	strscpy(text, "the controller was disconnected before it had answered", size);
	return -ENODEV;
}

bool nof_auth_choose_keys(struct nof_ctrl *ctrl, u16 qid, bool again, struct nof_auth_keys *keys)
{
	struct nof_ctrl_auth *auth = &ctrl->auth;
	bool next;

	mutex_lock(&ctrl->auth.lock);
	next = auth->next.key && !qid && (again || auth->try_next);
	auth->next_tried |= next && again;
	*keys = keys_get(next ? &auth->next : &auth->keys);
	/* a proof that was asked for is not omitted in between: an impostor could not give it */
	if (!keys->ctrl_key && !qid)
		keys->ctrl_key = key_get(auth->next.ctrl_key);
	mutex_unlock(&ctrl->auth.lock);
	return next;
}

bool nof_auth_wants_proof(struct nof_ctrl *ctrl)
{
	bool wants;

	mutex_lock(&ctrl->auth.lock);
	wants = ctrl->auth.keys.ctrl_key || ctrl->auth.next.ctrl_key;
	mutex_unlock(&ctrl->auth.lock);
	return wants;
}

bool nof_auth_peer_unproven(struct nof_ctrl *ctrl)
{
	return ctrl->opts.concat && nof_tls_key_set(ctrl) && !NOF_AUTH_MUTUAL(READ_ONCE(ctrl->auth.agreed));
}

void nof_auth_keys_succeeded(struct nof_ctrl *ctrl, const struct nof_auth_keys *keys)
{
	struct nof_auth_keys used = keys_get(keys), dropped = {};
	struct nof_ctrl_auth *auth = &ctrl->auth;
	const char *what = NULL;

	mutex_lock(&ctrl->auth.lock);
	auth->try_next = false;
	if (!keys_same(&used, &auth->keys)) {
		swap(used, auth->keys);
		what = "authenticated with the new keys";
	}
	if (keys_same(&auth->next, &auth->keys)) {
		swap(dropped, auth->next);
	} else if (auth->next_failed) {
		swap(dropped, auth->next);
		what = "authenticated with the previous keys: the new ones have failed and are dropped";
	}
	auth->next_failed = false;
	mutex_unlock(&ctrl->auth.lock);
	nof_auth_put_keys(&used);
	nof_auth_put_keys(&dropped);
	if (what)
		dev_info(&ctrl->dev, "%s\n", what);
}

void nof_auth_keys_failed(struct nof_ctrl *ctrl, bool next, int err)
{
	/* other errors concern the connection, or what the controller supports, not the keys */
	if (err != -EKEYREJECTED && err != -EKEYREVOKED && err != -EKEYEXPIRED && err != -EINVAL)
		return;
	mutex_lock(&ctrl->auth.lock);
	ctrl->auth.try_next = !next;
	ctrl->auth.next_failed |= next;
	mutex_unlock(&ctrl->auth.lock);
}

/* New keys may have been stored meanwhile: then their result is still to come. */
static void result_store(struct nof_ctrl_auth *auth, int err, const char *why, const char *effect)
{
	lockdep_assert_held(&auth->lock);
	if (work_pending(&auth->work))
		return;
	auth->result = err;
	scnprintf(auth->failure, sizeof(auth->failure), "%s; %s", why, effect);
}

void nof_auth_keys_tried(struct nof_ctrl *ctrl, const struct nof_auth_keys *keys, int err, bool unknown,
			 const char *why)
{
	struct nof_auth_keys dropped = {};
	struct nof_ctrl_auth *auth = &ctrl->auth;

	mutex_lock(&ctrl->auth.lock);
	if (err && keys_same(&auth->next, keys)) {
		if (unknown)
			auth->next_failed = true;
		else
			swap(dropped, auth->next);
	}
	result_store(auth, err, why, unknown ? "a reconnect tries the previous keys first" :
					       "the previous keys stay in use");
	mutex_unlock(&ctrl->auth.lock);
	if (dropped.key)
		dev_warn(&ctrl->dev, "the new keys are dropped, the previous ones stay in use\n");
	nof_auth_put_keys(&dropped);
}

void nof_auth_keys_not_tried(struct nof_ctrl *ctrl, int err, const char *why)
{
	mutex_lock(&ctrl->auth.lock);
	result_store(&ctrl->auth, err, why, "a reconnect tries the previous keys first");
	mutex_unlock(&ctrl->auth.lock);
}
