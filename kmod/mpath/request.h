/* SPDX-License-Identifier: GPL-2.0-only */
/* Requests of a head's queue: submission from blk-mq to a path. */
#ifndef NOF_MPATH_REQUEST_H
#define NOF_MPATH_REQUEST_H

#include <linux/blk-mq.h>
#include <linux/nvme.h>
#include "core/cmd.h"
#include "mpath/failover_stats.h"

#define NOF_IO_TIMEOUT		(30 * HZ)	/* until an Abort is sent; after the same time again, recovery begins */
/* Error completions of one request over all paths, after which the target's status is returned */
#define NOF_MAX_RETRIES		5
/* Lost connections of one request that are always retried; further ones are bounded by time, see retry_lost() */
#define NOF_MAX_LOSSES		16

extern const struct blk_mq_ops nof_mq_ops;

/* Origin of a request, which decides whether it is retried: see mpath/complete.c */
enum nof_kind {
	NOF_KIND_BLOCK,		/* the block layer */
	NOF_KIND_PASSTHROUGH,	/* a program, by ioctl or io_uring */
	NOF_KIND_OWN,		/* the driver, see mpath/command.h */
};

static inline enum nof_kind nof_kind_of(const struct request *rq)
{
	if (likely(!blk_rq_is_passthrough((struct request *)rq)))
		return NOF_KIND_BLOCK;
	return rq->cmd_flags & REQ_DRV ? NOF_KIND_OWN : NOF_KIND_PASSTHROUGH;
}

struct io_comp_batch;
struct nof_head;
struct nof_path;

/* Whether a command of the driver is retried when it is lost, or ends with an error that allows a retry */
enum nof_cmd_retry {
	NOF_CMD_RETRY_NEVER,	/* the sender handles the error */
	NOF_CMD_RETRY_UNSENT,	/* unless it may have been executed; a lost one then fails after its fence */
	NOF_CMD_RETRY_ALWAYS,	/* like any block request */
};

/**
 * struct nof_request - a request of a head's queue; struct nof_cmd comes first, for nof_cmd_rq()
 * @path:	where it was sent last; valid while outstanding
 * @sent_ns:	monotonic time of the last start
 * @first_ns:	start of the try that first failed over, valid with @failover
 * @retry_at:	jiffies; not sent to controller @left_ctrl before; 0: no delay
 * @since:	jiffies of the first submission
 * @was_detached:	detached from a target that did not answer: not detached again, or slow paths would never end it
 * @delay_requested:	@retry_at is a delay that the controller requested: it applies to all paths
 * @only:	passthrough: number of the controller that it must be sent to; 0: any
 * @odd:	non-zero if one of @left_ctrl, @zone, @waiting, @fail_after_fence, @bound is set, which is rare; see
 *		submit_odd()
 * @left_ctrl:	number of the controller that the last try failed on, 0: none
 * @zone:	enum nof_zone_step, for a request that may have been executed, see mpath/zones.h
 * @fail_after_fence:	it may have been executed and must not be repeated: it fails instead of being sent again
 * @waiting:	counted in head->waiting
 * @bound:	passthrough: @only is set
 * @path_failed:	the last try failed because of the path, not with another error
 * @no_wait:	passthrough: fails if there is no path, instead of waiting
 * @retry:	enum nof_cmd_retry, of a command of the driver (REQ_DRV), see mpath/command.h
 * @trial:	chosen as the probe of a path that is degraded or on probation, see choose_probe()
 * @maybe_ran:	passthrough: it was sent and lost without an answer, at least once
 * @ranges:	of a discard with several, see mpath/discard_ranges.h
 * @gpu:	its data are in GPU memory, even if the provider of the pages has left since
 * @failover:	of the path it left first, NULL for none
 * @gen:	subsys->selector_gen when selector->start() was called, 0 when it was not
 * @retries:	error completions so far, over all paths
 * @losses:	lost connections so far, up to NOF_MAX_LOSSES
 * @lost_at:	jiffies of the first of these losses
 * @timeouts:	tries so far that ended with an Abort; each doubles the time limit of the next
 * @periods:	time limits that have passed in this try
 * @aborted:	an Abort was sent for it on this path
 */
struct nof_request {
	struct nof_cmd		cmd;
	struct nof_path		*path;
	u64			sent_ns;
	unsigned long		retry_at;
	struct nvme_dsm_range	*ranges;
	u32			only;
	bool			no_wait;
	u8			retry;
	/* history, kept when it gives up its tag: see mpath/park.h */
	struct_group_tagged(nof_past, past,
		struct nof_failover	*failover;
		u64			first_ns;
		unsigned long		since;
		unsigned long		lost_at;
		u8			retries;
		u8			losses;
		u8			timeouts;
		bool			path_failed;
		bool			gpu;
	);
	union {
		struct {
			u32	left_ctrl;
			u8	zone;
			bool	waiting;
			bool	fail_after_fence;
			bool	bound;
		};
		u64		odd;
	};
	/* state of the tries; all 0 at the first one */
	struct_group(tries,
		u16		gen;
		u8		periods;
		bool		aborted;
		bool		delay_requested;
		bool		was_detached;
		bool		trial;
		bool		maybe_ran;
	);
};

static_assert(offsetof(struct nof_request, gen) - offsetof(struct nof_request, odd) == sizeof(u64));

/* Reaps completions of a polled hardware context on all paths. Returns how many. Context: process. */
int nof_head_poll(struct nof_head *head, u32 hctx, struct io_comp_batch *iob);

#endif
