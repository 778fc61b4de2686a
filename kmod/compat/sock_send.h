/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef NOF_COMPAT_SOCK_SEND_H
#define NOF_COMPAT_SOCK_SEND_H

#include <linux/sizes.h>
#include <linux/types.h>
#include <net/sock.h>
#include "compat/dispatch.h"

struct iov_iter;

enum {
	/* What a caller of nof_sock_send() should not go beyond under one lock: softirqs may be off meanwhile */
	NOF_SOCK_BYTES = NOF_DISPATCH_SLEEPS ? SZ_1M : SZ_128K,
};

/**
 * nof_sock_lock() - takes the lock that nof_sock_send() needs
 * @sk:	a TCP socket
 *
 * Where queue_rq() may not sleep this is the lock that softirqs take, with them disabled. As nobody else owns the
 * socket while it is held, nothing is in its backlog, which alone would have TCP take the lock again.
 *
 * Context: that of queue_rq(). Returns false when a task owns the socket and cannot be waited for here.
 */
static inline bool nof_sock_lock(struct sock *sk)
{
	if (NOF_DISPATCH_SLEEPS) {
		lock_sock(sk);
		return true;
	}
	spin_lock_bh(&sk->sk_lock.slock);
	if (!sock_owned_by_user_nocheck(sk))
		return true;
	spin_unlock_bh(&sk->sk_lock.slock);
	return false;
}

static inline void nof_sock_unlock(struct sock *sk)
{
	if (NOF_DISPATCH_SLEEPS)
		release_sock(sk);
	else
		spin_unlock_bh(&sk->sk_lock.slock);
}

/* Until the task that nof_sock_lock() has met is done with the socket. Process context, sleeps. */
static inline void nof_sock_wait(struct sock *sk)
{
	if (NOF_DISPATCH_SLEEPS || !sock_owned_by_user_nocheck(sk))
		return;
	lock_sock(sk);
	release_sock(sk);
}

/**
 * nof_sock_send() - append to a TCP stream what fits, without waiting
 * @sk:		locked by nof_sock_lock()
 * @iter:	an ITER_BVEC; advanced over what was taken
 * @splice:	refer to the pages instead of copying them: all of them are sendpages_ok(), and stay as they are until
 *		acknowledged. Where the route cannot do that, they are copied
 * @more:	more follows at once
 *
 * Returns how many bytes were taken, at least one; -EAGAIN when there was no room, and sk_write_space() will be
 * called; or another negative errno.
 */
int nof_sock_send(struct sock *sk, struct iov_iter *iter, bool splice, bool more);

#endif
