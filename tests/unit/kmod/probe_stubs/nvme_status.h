/* SPDX-License-Identifier: LGPL-2.1-or-later */

#ifdef STUB_STATUS_DNR
enum { NVME_STATUS_CRD = 0x1800, NVME_STATUS_MORE = 0x2000, NVME_STATUS_DNR = 0x4000 };
#endif

#ifdef STUB_SC_DNR
enum { NVME_SC_CRD = 0x1800, NVME_SC_MORE = 0x2000, NVME_SC_DNR = 0x4000 };
#endif
