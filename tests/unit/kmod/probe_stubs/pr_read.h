/* SPDX-License-Identifier: LGPL-2.1-or-later */

#ifdef STUB_PRESENT
struct pr_keys;
struct pr_held_reservation;

enum pr_status { PR_STS_SUCCESS, PR_STS_RESERVATION_CONFLICT = 0x18 };

struct pr_ops {
	int (*pr_read_keys)(struct pr_keys *keys);
	int (*pr_read_reservation)(struct pr_held_reservation *rsv);
};
#endif

#ifdef STUB_ABSENT
struct pr_ops {
	int (*pr_clear)(u64 key);
};
#endif
