/* SPDX-License-Identifier: LGPL-2.1-or-later */
struct request_queue;

void blk_freeze_queue_start(struct request_queue *q);

#ifdef STUB_NOMEMRESTORE
void blk_mq_unfreeze_queue_nomemrestore(struct request_queue *q);
void blk_mq_unfreeze_queue(struct request_queue *q, unsigned int memflags);
#endif

#ifdef STUB_PLAIN
void blk_mq_unfreeze_queue(struct request_queue *q);
#endif
