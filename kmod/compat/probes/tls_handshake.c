// SPDX-License-Identifier: GPL-2.0-only
/* TLS handshakes by an agent in userspace, on a socket of the kernel that keeps its network namespace */
#include <linux/key.h>
#include <linux/net.h>
#include <net/sock.h>
#include <net/tls.h>

#ifdef SPELLING_PSK
#include <net/handshake.h>

#if !IS_ENABLED(CONFIG_NET_HANDSHAKE)
#error no handshakes
#endif

int probe(struct tls_handshake_args *args);
int probe(struct tls_handshake_args *args)
{
	sk_net_refcnt_upgrade(args->ta_sock->sk);
	return tls_client_hello_psk(args, GFP_KERNEL);
}
#endif

#ifdef SPELLING_DISABLED	/* by the configuration */
#if IS_ENABLED(CONFIG_NET_HANDSHAKE)
#error handshakes
#endif
#endif

#ifdef SPELLING_ABSENT
extern int sk_net_refcnt_upgrade;
#endif
