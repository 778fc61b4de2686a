/* SPDX-License-Identifier: LGPL-2.1-or-later */

#ifdef STUB_FEATURE
struct queue_limits {
	unsigned int features, atomic_write_hw_max, atomic_write_hw_unit_min;
};

struct request {
	u64 cmd_flags;
};

enum { __REQ_ATOMIC = 20 };

#define REQ_ATOMIC (1ULL << __REQ_ATOMIC)
#define BLK_FEAT_ATOMIC_WRITES (1U << 14)
#endif

#ifdef STUB_LIMITS
struct queue_limits {
	unsigned int features, atomic_write_hw_max, atomic_write_hw_unit_min;
};

struct request {
	u64 cmd_flags;
};

enum { __REQ_ATOMIC = 20 };

#define REQ_ATOMIC (1ULL << __REQ_ATOMIC)
#endif

#ifdef STUB_ABSENT
struct queue_limits {
	unsigned int features;
};

struct request {
	u64 cmd_flags;
};
#endif
