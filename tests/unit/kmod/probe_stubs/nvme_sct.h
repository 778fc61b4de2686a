/* SPDX-License-Identifier: LGPL-2.1-or-later */

#ifdef STUB_PRESENT
enum { NVME_SCT_GENERIC, NVME_SC_MASK = 0xff, NVME_SCT_PATH = 0x300, NVME_SCT_MASK = 0x700 };
#endif

#ifdef STUB_ABSENT
#endif
