// SPDX-License-Identifier: GPL-2.0-only
/* TLS handshakes by an agent in userspace, on a socket of the kernel that keeps its network namespace */
#include <linux/key.h>
#include <linux/net.h>
#include <net/handshake.h>
#include <net/sock.h>
#include <net/tls.h>

#if !IS_ENABLED(CONFIG_NET_HANDSHAKE)
#error no handshakes
#endif

int probe(struct tls_handshake_args *args);
int probe(struct tls_handshake_args *args)
{
	sk_net_refcnt_upgrade(args->ta_sock->sk);
	return tls_client_hello_psk(args, GFP_KERNEL);
}
