/* SPDX-License-Identifier: LGPL-2.1-or-later */
typedef u8 blk_status_t;

#ifdef STUB_RESV
enum { BLK_STS_RESV_CONFLICT = 6 };
#endif

#ifdef STUB_NEXUS
enum { BLK_STS_NEXUS = 6 };
#endif
