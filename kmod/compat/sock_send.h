/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef NOF_COMPAT_SOCK_SEND_H
#define NOF_COMPAT_SOCK_SEND_H

#include <linux/sizes.h>
#include <linux/types.h>
#include <net/sock.h>
#include "compat/dispatch.h"

struct iov_iter;

enum {
	/* Most bytes that a caller should send under one lock: softirqs may be disabled meanwhile */
	NOF_SOCK_BYTES = NOF_DISPATCH_SLEEPS ? SZ_1M : SZ_128K,
};

/**
 * nof_sock_lock() - take the lock that nof_sock_send() needs
 * @sk:	a TCP socket
 *
 * Where queue_rq() may not sleep this is the spinlock of the socket, with softirqs disabled. No task owns the socket
 * while it is held, so the backlog is empty. TCP would take the lock again only to process a backlog.
 *
 * Context: as queue_rq(). Returns false if a task owns the socket and waiting for it is not possible here.
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

/* Waits until the task that made nof_sock_lock() fail releases the socket. Context: process, may sleep. */
static inline void nof_sock_wait(struct sock *sk)
{
	if (NOF_DISPATCH_SLEEPS || !sock_owned_by_user_nocheck(sk))
		return;
	lock_sock(sk);
	release_sock(sk);
}

/**
 * nof_sock_send() - append as many bytes as fit to a TCP stream, without waiting
 * @sk:		locked by nof_sock_lock()
 * @iter:	an ITER_BVEC; advanced over the bytes taken
 * @splice:	refer to the pages instead of copying them. All of them are sendpages_ok(), and stay unchanged until
 *		acknowledged. They are copied if the route does not support this
 * @more:	more data follow at once
 *
 * Returns the number of bytes taken, at least one; -EAGAIN if there was no room: sk_write_space() will be called; or
 * another negative errno.
 */
int nof_sock_send(struct sock *sk, struct iov_iter *iter, bool splice, bool more);

#endif
