/* SPDX-License-Identifier: LGPL-2.1-or-later */
struct sockaddr;
struct sockaddr_storage;

#ifdef STUB_STORAGE
bool inet_addr_is_any(struct sockaddr_storage *addr);
#endif

#ifdef STUB_SOCKADDR
bool inet_addr_is_any(struct sockaddr *addr);
#endif
