/* SPDX-License-Identifier: GPL-2.0-only */
/* Missing from older versions of linux/nvme.h (NVMe Base 2.0, 4.2.3 and figure 94; NVM command set 1.0, 3.2.8). */
#ifndef NOF_COMPAT_NVME_H
#define NOF_COMPAT_NVME_H

#include <linux/nvme.h>

#if NOF_HAVE_NVME_SCT_ABSENT
#define NVME_SCT_GENERIC		0x0
#define NVME_SCT_COMMAND_SPECIFIC	0x100
#define NVME_SCT_MEDIA_ERROR		0x200
#define NVME_SCT_PATH			0x300
#define NVME_SC_MASK			0x00ff
#define NVME_SCT_MASK			0x0700
#define NVME_SCT_SC_MASK		(NVME_SCT_MASK | NVME_SC_MASK)
#define NVME_SCT(status)		((status) >> 8 & 7)
#endif

#if NOF_HAVE_NVME_STATUS_SC_DNR
#define NVME_STATUS_CRD			NVME_SC_CRD
#define NVME_STATUS_MORE		NVME_SC_MORE
#define NVME_STATUS_DNR			NVME_SC_DNR
#endif

#if NOF_HAVE_NVME_SC_CMD_SIZE_ABSENT
#define NVME_SC_CMD_SIZE_LIM_EXCEEDED	0x183
#endif

#if NOF_HAVE_NVME_WZ_DEAC_ABSENT
#define NVME_WZ_DEAC			(1 << 9)
#endif

#if NOF_HAVE_NVME_TCP_C2HTERM_ABSENT
#define NVME_TCP_MIN_C2HTERM_PLEN	24
#define NVME_TCP_MAX_C2HTERM_PLEN	152
#endif

#if NOF_HAVE_NVME_RESV_EXT_ABSENT
struct nvme_registered_ctrl_ext {
	__le16	cntlid;
	__u8	rcsts;
	__u8	rsvd3[5];
	__le64	rkey;
	__u8	hostid[16];
	__u8	rsvd32[32];
};

struct nvme_reservation_status_ext {
	__le32	gen;
	__u8	rtype;
	__u8	regctl[2];
	__u8	rsvd7[2];
	__u8	ptpls;
	__u8	rsvd10[54];
	struct nvme_registered_ctrl_ext regctl_eds[];
};
#endif

#if NOF_HAVE_NVME_IS_WRITE_PLAIN
static inline bool nof_nvme_is_write(const struct nvme_command *cmd)
{
	return nvme_is_write((struct nvme_command *)cmd);
}

static inline bool nof_nvme_is_fabrics(const struct nvme_command *cmd)
{
	return nvme_is_fabrics((struct nvme_command *)cmd);
}

#define nvme_is_write	nof_nvme_is_write
#define nvme_is_fabrics	nof_nvme_is_fabrics
#endif

#endif
