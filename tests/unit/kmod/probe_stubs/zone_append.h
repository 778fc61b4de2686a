/* SPDX-License-Identifier: LGPL-2.1-or-later */

#ifdef STUB_HW
struct queue_limits {
	unsigned int max_hw_zone_append_sectors, max_zone_append_sectors;
};
#endif

#ifdef STUB_ONE
struct queue_limits {
	unsigned int max_zone_append_sectors;
};
#endif
