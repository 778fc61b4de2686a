/* SPDX-License-Identifier: LGPL-2.1-or-later */
struct srcu_struct;

#ifdef STUB_SET
struct blk_mq_tag_set {
	struct srcu_struct *srcu;
};

struct request_queue {
	int depth;
};
#endif

#ifdef STUB_QUEUE
struct blk_mq_tag_set {
	int depth;
};

struct srcu_struct {
	int idx;
};

struct request_queue {
	int depth;
	struct srcu_struct srcu[];
};
#endif
