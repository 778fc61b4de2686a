/* SPDX-License-Identifier: LGPL-2.1-or-later */

#ifdef STUB_PRESENT
enum { NVME_SC_CMD_SIZE_LIM_EXCEEDED = 0x183 };
#endif

#ifdef STUB_ABSENT
enum { NVME_SC_SIZE_LIMIT = 0x183 };
#endif
