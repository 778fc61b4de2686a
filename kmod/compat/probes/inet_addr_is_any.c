// SPDX-License-Identifier: GPL-2.0-only
/* inet_addr_is_any() */
#include <linux/inet.h>

#ifdef SPELLING_STORAGE
bool probe(struct sockaddr_storage *addr);
bool probe(struct sockaddr_storage *addr)
{
	return inet_addr_is_any(addr);
}
#endif

#ifdef SPELLING_SOCKADDR
bool probe(struct sockaddr *addr);
bool probe(struct sockaddr *addr)
{
	return inet_addr_is_any(addr);
}
#endif
