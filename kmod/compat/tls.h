/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef NOF_COMPAT_TLS_H
#define NOF_COMPAT_TLS_H

/*
 * Whether connections can use TLS: an agent in userspace does the handshake (6.12), the socket encrypts, and the kernel
 * exports key_lookup(), as kernels with the in-tree driver's keyring do.
 */
#if NOF_HAVE_TLS_HANDSHAKE_PSK && IS_ENABLED(CONFIG_TLS) && IS_ENABLED(CONFIG_NVME_KEYRING)
#define NOF_TLS	1
#else
#define NOF_TLS	0
#endif

#endif
