/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef NOF_COMPAT_SOCK_SEND_H
#define NOF_COMPAT_SOCK_SEND_H

#include <linux/types.h>

struct iov_iter;
struct sock;

/**
 * nof_sock_send() - append to a TCP stream what fits, without waiting
 * @sk:		locked by the caller
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
