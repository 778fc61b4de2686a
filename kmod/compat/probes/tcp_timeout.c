// SPDX-License-Identifier: GPL-2.0-only
/* expiry of the retransmission timer */
#include <net/tcp.h>

#ifdef SPELLING_SK
unsigned long probe(struct sock *sk);
unsigned long probe(struct sock *sk)
{
	return tcp_timeout_expires(sk);
}
#endif

#ifdef SPELLING_ICSK
unsigned long probe(struct sock *sk);
unsigned long probe(struct sock *sk)
{
	return icsk_timeout(inet_csk(sk));
}
#endif

#ifdef SPELLING_MEMBER
unsigned long probe(struct sock *sk);
unsigned long probe(struct sock *sk)
{
	return inet_csk(sk)->icsk_timeout;
}
#endif
