/* SPDX-License-Identifier: LGPL-2.1-or-later */

#ifdef STUB_PRESENT
#define NVME_TCP_MIN_C2HTERM_PLEN 24
#define NVME_TCP_MAX_C2HTERM_PLEN 152
#endif

#ifdef STUB_ABSENT
#endif
