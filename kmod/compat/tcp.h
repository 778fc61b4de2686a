/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef NOF_COMPAT_TCP_H
#define NOF_COMPAT_TCP_H

#include <net/tcp.h>

#if !NOF_HAVE_TCP_TIMEOUT_SK
static inline unsigned long tcp_timeout_expires(const struct sock *sk)
{
#if NOF_HAVE_TCP_TIMEOUT_ICSK
	return icsk_timeout(inet_csk(sk));
#else
	return inet_csk(sk)->icsk_timeout;
#endif
}
#endif

#endif
