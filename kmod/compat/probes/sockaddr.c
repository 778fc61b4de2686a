// SPDX-License-Identifier: GPL-2.0-only
/* type of addresses passed to sockets */
#include <linux/net.h>
#include <linux/socket.h>

#ifdef SPELLING_UNSIZED
int probe(struct socket *sock, struct sockaddr_unsized *addr);
int probe(struct socket *sock, struct sockaddr_unsized *addr)
{
	return kernel_bind(sock, addr, 16) ?: kernel_connect(sock, addr, 16, 0);
}
#endif

#ifdef SPELLING_PLAIN
int probe(struct socket *sock, struct sockaddr *addr);
int probe(struct socket *sock, struct sockaddr *addr)
{
	return kernel_bind(sock, addr, 16) ?: kernel_connect(sock, addr, 16, 0);
}
#endif
