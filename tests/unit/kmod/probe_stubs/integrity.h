/* SPDX-License-Identifier: LGPL-2.1-or-later */

#ifdef STUB_METADATA
struct queue_limits {
	struct {
		u8 metadata_size, pi_tuple_size;
	} integrity;
};
#endif

#ifdef STUB_TUPLE
struct queue_limits {
	struct {
		u8 tuple_size;
	} integrity;
};
#endif

#ifdef STUB_PROFILE
struct queue_limits {
	int features;
};

struct blk_integrity {
	void *profile;
};
#endif
