/* SPDX-License-Identifier: LGPL-2.1-or-later */
struct sock;

struct socket {
	struct sock *sk;
};

struct tls_handshake_args {
	struct socket *ta_sock;
};

#define GFP_KERNEL 0

int tls_client_hello_psk(const struct tls_handshake_args *args, gfp_t flags);

#ifdef STUB_PSK
#define CONFIG_NET_HANDSHAKE 1

void sk_net_refcnt_upgrade(struct sock *sk);
#endif

#ifdef STUB_DISABLED
void sk_net_refcnt_upgrade(struct sock *sk);
#endif

#ifdef STUB_ABSENT
#define CONFIG_NET_HANDSHAKE 1
#endif
