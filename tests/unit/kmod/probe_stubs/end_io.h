/* SPDX-License-Identifier: LGPL-2.1-or-later */
typedef int blk_status_t;
enum rq_end_io_ret { RQ_END_IO_FREE };
struct request;
struct io_comp_batch;

#ifdef STUB_BATCH
typedef enum rq_end_io_ret(rq_end_io_fn)(struct request *, blk_status_t, const struct io_comp_batch *);

struct request {
	rq_end_io_fn *end_io;
};
#endif

#ifdef STUB_PLAIN
typedef enum rq_end_io_ret(rq_end_io_fn)(struct request *, blk_status_t);

struct request {
	rq_end_io_fn *end_io;
};
#endif
