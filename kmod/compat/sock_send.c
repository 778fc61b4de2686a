// SPDX-License-Identifier: GPL-2.0-only
/* Sending on a locked TCP socket: by MSG_SPLICE_PAGES, or by the older sendpage calls. */
#include <linux/socket.h>
#include <linux/uio.h>
#include <net/tcp.h>
#include "compat/sock_send.h"

static int send_iter(struct sock *sk, struct iov_iter *iter, int flags)
{
	struct msghdr msg = { .msg_flags = flags, .msg_iter = *iter };
	int sent = tcp_sendmsg_locked(sk, &msg, iov_iter_count(iter));

	if (sent > 0)
		iov_iter_advance(iter, sent);
	return sent;
}

#if NOF_HAVE_SOCK_SPLICE_SENDPAGE
static int send_page(struct sock *sk, struct iov_iter *iter, int flags)
{
	size_t pos = iter->bvec->bv_offset + iter->iov_offset;
	size_t n = min3(iov_iter_count(iter), iter->bvec->bv_len - iter->iov_offset, PAGE_SIZE - offset_in_page(pos));
	int sent;

	/* sendpage has a flag of its own for more data to follow. */
	if (n < iov_iter_count(iter))
		flags |= MSG_MORE;
	if (flags & MSG_MORE)
		flags |= MSG_SENDPAGE_NOTLAST;
	sent = tcp_sendpage_locked(sk, iter->bvec->bv_page + (pos >> PAGE_SHIFT), offset_in_page(pos), n, flags);
	if (sent > 0)
		iov_iter_advance(iter, sent);
	return sent;
}

/* Without scatter-gather TCP would map each page to copy it, which may sleep. A new route can take the feature away. */
static int send_some(struct sock *sk, struct iov_iter *iter, int flags)
{
	return sk->sk_route_caps & NETIF_F_SG ? send_page(sk, iter, flags) : send_iter(sk, iter, flags);
}

static int splice_iter(struct sock *sk, struct iov_iter *iter, int flags)
{
	int total = 0;

	while (iov_iter_count(iter)) {
		int sent;

		if (iter->iov_offset == iter->bvec->bv_len) {
			iter->bvec++;
			iter->nr_segs--;
			iter->iov_offset = 0;
			continue;
		}
		sent = send_some(sk, iter, flags);
		if (sent <= 0)
			return total ?: sent;
		total += sent;
	}
	return total;
}
#else
static int splice_iter(struct sock *sk, struct iov_iter *iter, int flags)
{
	return send_iter(sk, iter, flags | MSG_SPLICE_PAGES);
}
#endif

int nof_sock_send(struct sock *sk, struct iov_iter *iter, bool splice, bool more)
{
	int flags = MSG_DONTWAIT | MSG_NOSIGNAL | (more ? MSG_MORE : 0);

	return splice ? splice_iter(sk, iter, flags) : send_iter(sk, iter, flags);
}
