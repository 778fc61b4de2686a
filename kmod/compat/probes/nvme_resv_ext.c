// SPDX-License-Identifier: GPL-2.0-only
/* reservation reports with 128-bit host identifiers */
#include <linux/nvme.h>

#ifdef SPELLING_PRESENT
u64 probe(const struct nvme_reservation_status_ext *report);
u64 probe(const struct nvme_reservation_status_ext *report)
{
	return le64_to_cpu(report->regctl_eds[0].rkey);
}
#endif

#ifdef SPELLING_ABSENT
struct nvme_registered_ctrl_ext {
	int a;
};

struct nvme_reservation_status_ext {
	int a;
};
#endif
