/* SPDX-License-Identifier: LGPL-2.1-or-later */
struct socket;
struct sockaddr;

#ifdef STUB_UNSIZED
struct sockaddr_unsized;

int kernel_bind(struct socket *sock, struct sockaddr_unsized *addr, int len);
int kernel_connect(struct socket *sock, struct sockaddr_unsized *addr, int len, int flags);
#endif

#ifdef STUB_PLAIN
int kernel_bind(struct socket *sock, struct sockaddr *addr, int len);
int kernel_connect(struct socket *sock, struct sockaddr *addr, int len, int flags);
#endif
