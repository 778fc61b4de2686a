/* SPDX-License-Identifier: GPL-2.0-only */
/* In-band authentication of a controller's queues by DH-HMAC-CHAP (NVMe Base 2.0, 8.13.5). */
#ifndef NOF_CORE_AUTH_H
#define NOF_CORE_AUTH_H

#include <linux/atomic.h>
#include <linux/mutex.h>
#include <linux/types.h>
#include <linux/workqueue.h>

struct key;
struct netlink_ext_ack;
struct nof_ctrl;
struct nof_queue;

/**
 * struct nof_auth_keys - references to keys, or NULL
 * @key:	with the host's secret. The payload of a key may change at any time
 * @ctrl_key:	with the controller's secret
 * @since:	when userspace gave them to the driver, CLOCK_BOOTTIME ns
 */
struct nof_auth_keys {
	struct key	*key;
	struct key	*ctrl_key;
	u64		since;
};

#define NOF_AUTH_TEXT	160	/* bytes of an error text, with the NUL */

/**
 * struct nof_ctrl_auth - authentication of a controller, see core/auth.c
 * @lock:	protects @keys to @failure; outer to ctrl->state_lock, short sections
 * @keys:	in use
 * @next:	new keys, until they have succeeded or failed
 * @try_next:	the admin queue is authenticated with @next first, because @keys were refused
 * @next_tried:	the authentication of a live controller with @next has begun
 * @next_failed: an authentication with @next has failed, and its result was not known, or it was a reconnect's
 * @result:	of the last re-authentication: 0, -EINPROGRESS, or another negative errno with the text @failure
 * @transactions: authentications so far
 * @work:	authenticates the admin queue again
 * @at:		when the admin queue was authenticated, CLOCK_BOOTTIME ns; 0: it is not
 * @agreed:	then: NOF_AUTH_AGREED()
 */
struct nof_ctrl_auth {
	struct mutex		lock;
	struct nof_auth_keys	keys;
	struct nof_auth_keys	next;
	bool			try_next;
	bool			next_tried;
	bool			next_failed;
	int			result;
	char			failure[NOF_AUTH_TEXT];
	atomic_t		transactions;
	struct work_struct	work;
	u64			at;
	u32			agreed;
};

/* Hash function, DH group, and whether the controller has authenticated itself, too: one value for lockless readers */
#define NOF_AUTH_AGREED(hash, group, mutual)	((hash) | (group) << 8 | (u32)(mutual) << 16)
#define NOF_AUTH_HASH(agreed)			((u8)(agreed))
#define NOF_AUTH_GROUP(agreed)			((u8)((agreed) >> 8))
#define NOF_AUTH_MUTUAL(agreed)			((bool)((agreed) >> 16))

/* Loads the modules of the kernel's algorithms. Context: module init. */
void nof_auth_load(void);
void nof_auth_init(struct nof_ctrl *ctrl);
/* Drops the keys. Context: process, the last reference to the controller is gone. */
void nof_auth_exit(struct nof_ctrl *ctrl);

/**
 * nof_auth_find_keys() - find and check the keys of the host and the controller
 * @serial, @ctrl_serial: serial numbers of keys of type "user" or "logon"; 0: none
 * @keys:	receives references; zeroed
 * @extack:	receives the reason of a refusal
 *
 * Return: 0, -ENOKEY, -EKEYREVOKED, -EKEYEXPIRED, -EINVAL (not a secret, or none of the host), or -EOPNOTSUPP (this
 * kernel lacks what is necessary). Context: process.
 */
int nof_auth_find_keys(struct nof_ctrl *ctrl, u32 serial, u32 ctrl_serial, struct nof_auth_keys *keys,
		       struct netlink_ext_ack *extack);
void nof_auth_put_keys(struct nof_auth_keys *keys);
/* Returns the serial number of the host's key in use, or 0, and since when the driver has it. */
u32 nof_auth_key_serial(struct nof_ctrl *ctrl, u64 *since);
/*
 * Gives the controller new keys; a NULL stands for the previous key. A live controller that is authenticated is
 * authenticated again with them, in the background: see nof_auth_wait(). Otherwise a reconnect tries them if the
 * previous ones are refused, or nof_auth_start() once afterwards. These are dropped when the new ones have succeeded,
 * and the new ones when they have failed and the previous ones have not. A new key of the controller is required at
 * once, also with the previous key of the host: until the target has it, a reconnect fails. The secrets are read from
 * the keys at each authentication, so that an update of a key's payload replaces a secret, too. Takes the references.
 * Context: process.
 */
void nof_auth_use_keys(struct nof_ctrl *ctrl, struct nof_auth_keys *keys);
/*
 * The controller is live. Tries keys that it was given during the connect attempt, which has used the previous ones,
 * but not again those with which a live controller was authenticated in vain. Context: process.
 */
void nof_auth_start(struct nof_ctrl *ctrl);
/*
 * Waits for the re-authentication that nof_auth_use_keys() has started, if any, at most for connect_tmo and about a
 * second. Returns 0, or a negative errno, with the reason in @text of @size bytes. Context: process, sleeps.
 */
int nof_auth_wait(struct nof_ctrl *ctrl, char *text, size_t size);
/* Cancels a re-authentication, and waits for its end; the queues have been cancelled. Context: process, sleeps */
void nof_auth_stop(struct nof_ctrl *ctrl);
/*
 * Whether the authentication of this queue generates the key of the controller's TLS: with concat, that of the admin
 * queue on a connection without TLS. Such a connection serves nothing else: nof_auth_queue() requires authentication, a
 * DH group and the secure channel there, and leaves the key in ctrl->tls (nof_tls_key_generated()).
 */
bool nof_auth_concatenates(const struct nof_queue *queue);
/*
 * Authenticates a queue whose Connect has succeeded, if the controller requires it. Returns 0, or a negative errno. All
 * but lack of memory and the end of the connection have been recorded. Context: process, sleeps.
 */
int nof_auth_queue(struct nof_queue *queue);

#endif
