/* SPDX-License-Identifier: LGPL-2.1-or-later */
u64 le64_to_cpu(u64 v);

#ifdef STUB_PRESENT
struct nvme_registered_ctrl_ext {
	u64 rkey;
};

struct nvme_reservation_status_ext {
	u32 gen;
	struct nvme_registered_ctrl_ext regctl_eds[];
};
#endif

#ifdef STUB_ABSENT
#endif
