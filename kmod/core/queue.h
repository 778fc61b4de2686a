/* SPDX-License-Identifier: GPL-2.0-only */
/* A queue pair of a controller: its outstanding commands, and whether it accepts more. */
#ifndef NOF_CORE_QUEUE_H
#define NOF_CORE_QUEUE_H
#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/blk-mq.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include "core/cmd.h"

struct completion;
struct nof_ctrl;
struct srcu_struct;

enum nof_queue_type { NOF_QUEUE_ADMIN, NOF_QUEUE_DEFAULT, NOF_QUEUE_POLL };

/* Why an association ended: mpath/fence.c derives from it how long requests are held */
enum nof_cause {
	NOF_CAUSE_LOCAL,	/* this host, which closes the connections */
	NOF_CAUSE_NETWORK,	/* the peer is unreachable */
	NOF_CAUSE_EXPIRED,	/* nothing was received or answered for the keep-alive timeout */
	NOF_CAUSE_PEER,	/* the peer closed a connection */
};

enum nof_queue_flag {
	NOF_Q_LIVE,		/* commands may be queued; cleared before the transport is stopped */
	NOF_Q_DEAD,		/* being stopped, or stopped: must not start any more */
	NOF_Q_ERROR,		/* nof_queue_error() was called */
	NOF_Q_CONNECTED,	/* Connect has succeeded: other commands may be queued */
	NOF_Q_POLLED,		/* completions are polled: set when Connect has succeeded on a poll queue */
	NOF_Q_STARTING,		/* I/O queue being started: its failure does not fail the connect attempt */
};

/* A vendor specific opcode, recorded for commands with unknown effects */
#define NOF_OPCODE_UNKNOWN	0xff

/**
 * struct nof_slot - one entry of a queue's table of outstanding commands
 * @cmd:	the command; NULL if the slot is free. The queue does not own its memory: only the code that completes
 *		or cancels the command may dereference this
 * @at:		jiffies when the command was added or detached
 * @gen:	changes with every use, so that a late completion for an earlier command in the slot is detected
 * @opcode:	of the command; NOF_OPCODE_UNKNOWN if its command set is unknown
 * @detached:	the command was detached, and a placeholder waits for its completion
 *
 * Statistics and the watch read all fields but @gen without a lock, with READ_ONCE(): the values may already belong to
 * the next command.
 */
struct nof_slot {
	struct nof_cmd	*cmd;
	u32		at;
	u16		gen;
	u8		opcode;
	bool		detached;
};

/*
 * State of core/stall_watch.c for a queue; under ctrl->queues.lock, but @entry under ctrl->state_lock while in
 * watch.fresh. @heard, @acked: as in struct nof_vital; @quiet_ms: how long @heard has not changed while the peer owed a
 * response; @idle_ms: how long outstanding commands have not completed; @empty_ms: how long none has been outstanding
 */
struct nof_queue_watch {
	struct list_head entry;
	u64	heard;
	u32	acked;
	u32	quiet_ms;
	u32	idle_ms;
	u32	empty_ms;
};

/**
 * struct nof_starved - a hardware context that found no room in a queue and is run again when there is some
 * @hctx:	the context
 * @entry:	in queue->starved or queue->unprepared
 * @queue:	whose list it is in, or NULL. Set by the task that adds it, cleared under starved_lock of that queue
 */
struct nof_starved {
	struct blk_mq_hw_ctx	*hctx;
	struct list_head	entry;
	struct nof_queue	*queue;
};

/**
 * struct nof_queue - queue pair; first member of each transport's own queue structure, allocated by the core
 * @ctrl:	owner
 * @qid:	0 is the admin queue
 * @type:	enum nof_queue_type
 * @cpu:	CPU this queue is mostly used from: bind send work and incoming interrupts near it; -1 for none
 * @flags:	enum nof_queue_flag bits
 * @size:	submission queue entries (SQSIZE + 1)
 * @limit:	most commands outstanding at once: @size - 1 and no more than MAXCMD
 * @nr_slots:	length of @slots, a power of two, more than @limit
 * @slots:	outstanding commands by the low bits of the command identifier
 * @privs:	transport data of each slot, @slot_size bytes
 * @prepare, @release: of the transport
 * @used:	bitmap of the slots in use
 * @next:	where to search for a free slot: an identifier is reused as late as possible
 * @deadline:	jiffies by which start_queue() must return
 * @must_authenticate: the response to Connect requires in-band authentication
 * @sq_flow:	cleared when the controller agreed to disable submission queue flow control
 * @sq_head:	last SQHD received
 * @inflight:	commands in @slots
 * @starved:	contexts that wait for a slot, oldest first; under @starved_lock
 * @unprepared:	contexts that wait for a resource of the transport; under @starved_lock
 * @nr_freed:	number of calls of nof_queue_resource_freed()
 * @progress:	a bit for each watcher (enum nof_watcher): something completed since it last looked. Completions set all
 *		of them by a plain store, watchers clear theirs atomically
 * @watched:	already in a list of ctrl->watch; under ctrl->state_lock
 * @nr_detached: placeholders of detached commands, included in @inflight
 * @lock:	serialises stopping and cancelling this queue
 * @watch:	see core/stall_watch.c
 * @start_work:	runs start_queue() and Connect, in parallel with other queues; the result is @start_err
 * @end_work:	takes the queue down if it fails while it starts, so that @start_work does not wait any longer
 */
struct nof_queue {
	struct nof_ctrl		*ctrl;
	u16			qid;
	u8			type;
	bool			sq_flow;
	bool			must_authenticate;
	int			cpu;
	unsigned long		flags;
	u32			size;
	u32			limit;
	u32			nr_slots;
	struct nof_slot		*slots;
	void			*privs;
	u32			slot_size;
	int			(*prepare)(struct nof_queue *queue, struct nof_cmd *cmd);
	void			(*release)(struct nof_queue *queue, struct nof_cmd *cmd);
	unsigned long		*used;
	spinlock_t		starved_lock;
	unsigned long		deadline;
	u16			sq_head;
	struct mutex		lock;
	atomic_t		nr_detached;
	struct nof_queue_watch	watch;
	struct work_struct	start_work;
	struct work_struct	end_work;
	int			start_err;

	atomic_t		inflight ____cacheline_aligned_in_smp;
	u32			next;
	unsigned long		progress;
	bool			watched;
	struct list_head	starved;
	struct list_head	unprepared;
	atomic_t		nr_freed;
};

/**
 * struct nof_completed - completed requests that have yet to be ended
 * @iob:	requests without an error: @own, or the batch of the block layer, which ends them itself
 * @own:	see @iob
 * @requests:	the others, by queuelist
 * @bios:	of requests that have given their tags up, see mpath/park.h
 *
 * Ending a bio calls its bi_end_io(), which may take long and, in process context, sleep. Requests are therefore
 * collected while locks are held, and ended afterwards.
 */
struct nof_completed {
	struct io_comp_batch	*iob;
	struct io_comp_batch	own;
	struct list_head	requests;
	struct list_head	bios;
};

/* @iob: the block layer's, or NULL */
static inline void nof_completed_init(struct nof_completed *done, struct io_comp_batch *iob)
{
	done->own = (struct io_comp_batch){};
	done->iob = iob ?: &done->own;
	INIT_LIST_HEAD(&done->requests);
	INIT_LIST_HEAD(&done->bios);
}

/*
 * Ends the collected requests. Context: softirq, or process without locks and outside SRCU read sections; a caller that
 * must hold a lock disables softirqs.
 */
void nof_completed_end(struct nof_completed *done);

/**
 * nof_queue_find() - find the command that a received completion, data or R2T PDU refers to
 * @queue:	the queue it was received on
 * @cid:	command identifier from the wire
 *
 * Return: the command, if it has exactly this identifier, generation included, and is outstanding on this queue in
 * state NOF_CMD_SENT. NULL means that the target violated the protocol: reset the queue.
 * Context: the transport's receive side of @queue (one at a time per queue). Does not sleep.
 */
struct nof_cmd *nof_queue_find(struct nof_queue *queue, __le16 cid);

/**
 * nof_cmd_complete() - complete a command
 * @cmd:	outstanding on cmd->queue
 * @status:	NVMe status without phase bit
 * @result:	dwords 0 and 1 of the completion
 * @done:	collects the request; the caller ends it with nof_completed_end()
 *
 * Called exactly once for each command that is not detached: by the transport's receive side, or by the core after
 * stop_queue(). The command may be reused before this returns. Context: softirq or process; does not sleep.
 */
void nof_cmd_complete(struct nof_cmd *cmd, u16 status, const union nvme_result *result, struct nof_completed *done);

/**
 * struct nof_detach - a command to be detached from a queue whose peer does not answer
 * @index:	of its slot
 * @may:	returns whether the command that is now in the slot may be detached; @sent: the peer may have it. Called
 *		with a lock that keeps it there: must not sleep
 * @placeholder: takes the slot of a command that the peer may have: data received for it are discarded, and its
 *		completion completes the placeholder. Zeroed; its done is set
 * @used:	the queue owns @placeholder, or it has completed already
 */
struct nof_detach {
	u32		index;
	bool		(*may)(const struct nof_cmd *cmd, bool sent);
	struct nof_cmd	*placeholder;
	bool		used;
};

/**
 * nof_cmd_detach() - take a command off its queue without a completion
 * @cmd:	outstanding; must not be sent or completed concurrently
 * @d:		as passed to the transport's detach()
 * @sent:	the peer may have received the command
 */
void nof_cmd_detach(struct nof_cmd *cmd, struct nof_detach *d, bool sent);

/**
 * nof_queue_resource_freed() - report a free resource for lack of which prepare() returned -EAGAIN
 * @queue:	its first waiter is run again
 *
 * Context: any, does not sleep.
 */
void nof_queue_resource_freed(struct nof_queue *queue);

/**
 * nof_queue_error() - report that a connection has failed
 * @queue:	in any state; only the first call has an effect
 * @cause:	why it ended, as far as is known
 * @err:	negative errno
 * @fmt:	what happened, for the log: no trailing newline
 *
 * Records the reason and starts recovery, or fails the connect attempt in progress. The core then calls stop_queue()
 * and cancels outstanding commands. Context: any, does not sleep.
 */
__printf(4, 5) void nof_queue_error(struct nof_queue *queue, enum nof_cause cause, int err, const char *fmt, ...);

/* The functions below are for core/ and mpath/ only. */
struct nof_queue *nof_queue_alloc(struct nof_ctrl *ctrl, u16 qid, u8 type, u32 size, u32 limit);
void nof_queue_free(struct nof_queue *queue);
/*
 * Taking queues down: close stops new commands. After synchronize_srcu(), stop ends the traffic. After all queues are
 * stopped, cancel ends the commands.
 */
void nof_queue_close(struct nof_queue *queue);
void nof_queue_stop(struct nof_queue *queue);
void nof_queue_cancel(struct nof_queue *queue, struct nof_completed *done);
/*
 * Puts @cmd into a slot, assigns its identifier and has the transport prepare it. Returns 0, -EBUSY if the queue is
 * full, -ENOTCONN if it is not live, or the error of prepare(): -EAGAIN, -ENOMEM, -EOPNOTSUPP or -EIO, see struct
 * nof_transport. Context: SRCU read side.
 */
int nof_queue_add(struct nof_queue *queue, struct nof_cmd *cmd);
/*
 * Runs the hardware context again once a retry after this error of nof_queue_add() is worthwhile: -EBUSY: when a slot
 * is freed; -EAGAIN: when a resource of the transport is. Context: SRCU read side.
 */
void nof_queue_wait_add(struct nof_queue *queue, struct nof_starved *who, int err);
/* Removes a context from the list of its queue, which then does not run it again. Context: process. */
void nof_queue_wait_del(struct nof_starved *who, struct srcu_struct *srcu);
/*
 * Detaches the requests that @may (see struct nof_detach) selects and retries them; returns how many. The caller keeps
 * the queue allocated, which may be taken down meanwhile. Context: process, sleeps, no lock held.
 */
u32 nof_queue_detach(struct nof_queue *queue, bool (*may)(const struct nof_cmd *cmd, bool sent));
/* Age in ms of the oldest unanswered detached command; 0: there is none */
u32 nof_queue_detached_ms(struct nof_queue *queue);
/*
 * Sends @cmd and waits for it. When @timeout_ms (0: the default) passes, recovery is started, which cancels it; with
 * @late and @timeout_ms not 0, @late is called first, and recovery is started after the default time on top. Returns 0,
 * a positive NVMe status, or a negative errno if the command did not complete: -ECONNRESET (cancelled), -ENOTCONN
 * (queue full or not live), -ETIMEDOUT (no transport resource or memory), -EOPNOTSUPP or -EIO. Context: process,
 * sleeps.
 */
typedef void nof_exec_late_fn(struct nof_queue *queue, const struct nof_cmd *cmd);
int nof_queue_exec(struct nof_queue *queue, struct nof_cmd *cmd, u32 timeout_ms, nof_exec_late_fn *late);
/* How long a command of the driver may take, ms */
u32 nof_ctrl_command_tmo_ms(const struct nof_ctrl *ctrl);
/* Waits for commands that the caller sent to the admin queue; recovery, after the default time, cancels them. */
void nof_queue_wait(struct nof_ctrl *ctrl, u8 opcode, struct completion *done);

/* Slow path of nof_watch_kick(). Context: any; the caller keeps the queue (SRCU read side or queues.lock). */
void nof_watch_begin(struct nof_queue *queue);

/* Must be called after @inflight was raised. Fast path: reads a flag that rarely changes. */
static inline void nof_watch_kick(struct nof_queue *queue)
{
	if (unlikely(!READ_ONCE(queue->watched)))
		nof_watch_begin(queue);
}

static inline bool nof_queue_live(const struct nof_queue *queue)
{
	return test_bit(NOF_Q_LIVE, &queue->flags);
}

#endif
