// SPDX-License-Identifier: GPL-2.0-only
/* sending pages without a copy */
#include <linux/net.h>
#include <linux/socket.h>
#include <net/tcp.h>

#ifdef SPELLING_SENDPAGE
/* sockets have a sendpage callback: then MSG_SPLICE_PAGES may be defined, but does not work */
int probe(struct sock *sk, struct page *page);
int probe(struct sock *sk, struct page *page)
{
	return tcp_sendpage_locked(sk, page, 0, 512, MSG_SENDPAGE_NOTLAST);
}
#endif

#ifdef SPELLING_FLAG
int probe(struct sock *sk, struct msghdr *msg);
int probe(struct sock *sk, struct msghdr *msg)
{
	msg->msg_flags = MSG_SPLICE_PAGES;
	return tcp_sendmsg_locked(sk, msg, 512);
}
#endif
