/* SPDX-License-Identifier: LGPL-2.1-or-later */

#ifdef STUB_PRESENT
enum { NVME_WZ_DEAC = 1 << 9 };
#endif

#ifdef STUB_ABSENT
#endif
