// SPDX-License-Identifier: GPL-2.0-only
/* a socket can be excluded from current->task_frag */
#include <net/sock.h>

void probe(struct sock *sk);
void probe(struct sock *sk)
{
	sk->sk_use_task_frag = false;
}
