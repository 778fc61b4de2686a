/* SPDX-License-Identifier: LGPL-2.1-or-later */
struct request_queue;
struct gendisk;
struct blk_mq_tag_set;

#ifdef STUB_FEATURES
struct queue_limits {
	unsigned int features;
};

enum { BLK_FEAT_WRITE_CACHE = 1, BLK_FEAT_FUA = 2, BLK_FEAT_STABLE_WRITES = 32 };

struct queue_limits queue_limits_start_update(struct request_queue *q);
int queue_limits_commit_update(struct request_queue *q, struct queue_limits *lim);
#endif

#ifdef STUB_SETTERS
void blk_queue_logical_block_size(struct request_queue *q, unsigned int size);
void blk_queue_max_hw_sectors(struct request_queue *q, unsigned int max);
void blk_queue_write_cache(struct request_queue *q, bool enabled, bool fua);
struct gendisk *blk_mq_alloc_disk(struct blk_mq_tag_set *set, void *data);
#endif
