/* SPDX-License-Identifier: LGPL-2.1-or-later */
struct sock;
struct page;

struct msghdr {
	int msg_flags;
};

int tcp_sendmsg_locked(struct sock *sk, struct msghdr *msg, size_t size);

#ifdef STUB_SENDPAGE
enum { MSG_SENDPAGE_NOTLAST = 0x20000, MSG_SPLICE_PAGES = 0x8000000 };

int tcp_sendpage_locked(struct sock *sk, struct page *page, int offset, size_t size, int flags);
#endif

#ifdef STUB_FLAG
enum { MSG_SPLICE_PAGES = 0x8000000 };
#endif
