/* SPDX-License-Identifier: LGPL-2.1-or-later */
struct sock;
struct inet_connection_sock;

struct inet_connection_sock *inet_csk(const struct sock *sk);

#ifdef STUB_SK
unsigned long tcp_timeout_expires(const struct sock *sk);
#endif

#ifdef STUB_ICSK
unsigned long icsk_timeout(const struct inet_connection_sock *icsk);
#endif

#ifdef STUB_MEMBER
struct inet_connection_sock {
	unsigned long icsk_timeout;
};
#endif
