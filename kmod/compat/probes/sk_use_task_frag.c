// SPDX-License-Identifier: GPL-2.0-only
/* excluding a socket from current->task_frag */
#include <net/sock.h>

#ifdef SPELLING_PRESENT
void probe(struct sock *sk);
void probe(struct sock *sk)
{
	sk->sk_use_task_frag = false;
}
#endif
