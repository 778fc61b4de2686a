/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef NOF_COMPAT_SOCK_SEND_H
#define NOF_COMPAT_SOCK_SEND_H

#include <linux/types.h>
#include <net/sock.h>
#include "compat/dispatch.h"

struct iov_iter;

/**
 * nof_sock_lock() - what nof_sock_send() wants to be locked, from a context that sleeps if queue_rq() may
 * @sk:	a TCP socket
 *
 * Where it may not sleep, this is the lock that softirqs take, with them disabled; false: a task has the socket. As
 * nobody else owns it while it is held, nothing is in its backlog, which alone would have TCP take the lock again.
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
