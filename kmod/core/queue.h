/* SPDX-License-Identifier: GPL-2.0-only */
/* A queue pair of one controller: who is outstanding on it, and whether it may be used. */
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

/* Who ended an association, and whether the peer can know of it: what fencing goes by (mpath/fence.c) */
enum nof_cause {
	NOF_CAUSE_HERE,	/* this host, which tells the peer by closing the connections */
	NOF_CAUSE_NETWORK,	/* the peer can no longer be reached */
	NOF_CAUSE_EXPIRED,	/* nothing was heard or answered for the keep-alive timeout */
	NOF_CAUSE_PEER,	/* the peer has closed a connection */
};

enum nof_queue_flag {
	NOF_Q_LIVE,		/* commands may be queued; cleared before the transport is stopped */
	NOF_Q_DEAD,		/* being stopped, or stopped: nothing more may start on it */
	NOF_Q_ERROR,		/* nof_queue_error() was called */
	NOF_Q_CONNECTED,	/* Connect is through: commands other than it may be queued */
	NOF_Q_POLLED,		/* the poller reaps: set once Connect is through on a poll queue */
	NOF_Q_STARTING,		/* an I/O queue that may still fail without failing the connect attempt */
};

/* A vendor's, which may do anything */
#define NOF_OPCODE_UNKNOWN	0xff

/**
 * struct nof_slot - one entry of a queue's table of outstanding commands
 * @cmd:	the command; NULL if the slot is free. Its memory is not the queue's: only the code that completes or
 *		cancels the command may dereference this
 * @at:		jiffies when it was sent, or detached
 * @gen:	changes with every use, so that a late completion for an earlier command in the slot is detected
 * @opcode:	of the command; NOF_OPCODE_UNKNOWN where nobody knows what it means
 * @detached:	its command was, and a placeholder waits for the answer
 *
 * Statistics and the watch read all fields but @gen without a lock, with READ_ONCE(): what they see may be of the next
 * command already.
 */
struct nof_slot {
	struct nof_cmd	*cmd;
	u32		at;
	u16		gen;
	u8		opcode;
	bool		detached;
};

/*
 * What core/watch.c remembers of a queue, under ctrl->queues_lock. @entry: in a list of ctrl->watch; @heard: as in
 * struct nof_vital, @acked: likewise; @quiet_ms: for so long it has not changed while the peer owed us an answer;
 * @idle_ms: for so long nothing completed of what is outstanding; @calm_ms: for so long nothing has been
 */
struct nof_queue_watch {
	struct list_head entry;
	u64	heard;
	u32	acked;
	u32	quiet_ms;
	u32	idle_ms;
	u32	calm_ms;
};

/**
 * struct nof_starved - who found no room in a queue, and is run again when there is some
 * @hctx:	who
 * @entry:	in queue->starved or queue->unprepared
 * @queue:	in whose list; NULL: in none. Set by who puts it there, cleared under that queue's starved_lock
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
 * @privs:	what the transport keeps for each slot, @slot_size bytes
 * @prepare, @release: the transport's
 * @used:	slots that are taken, a bit each
 * @next:	where to look for a free one: an identifier comes back as late as can be
 * @deadline:	jiffies by which start_queue() has to be done
 * @sq_flow:	cleared when the controller agreed to disable submission queue flow control
 * @sq_head:	last SQHD the controller told
 * @inflight:	commands in @slots
 * @starved:	struct nof_starved, who waits for room first; under @starved_lock
 * @unprepared:	contexts that wait for a resource of the transport; under @starved_lock
 * @rooms:	counts the calls of nof_queue_room()
 * @busy:	a bit for each watcher (enum nof_watcher): something completed since it last looked. Completions set
 *		all of them by a plain store, watchers clear theirs atomically
 * @watched:	already in a list of ctrl->watch; under ctrl->state_lock
 * @nr_detached: of @inflight, placeholders of commands that were detached
 * @lock:	serialises killing this queue
 * @watch:	see core/watch.c
 * @start_work:	runs start_queue() and Connect beside those of the other queues; the result is @start_err
 * @end_work:	takes the queue down if it fails while it starts, so that @start_work does not wait any longer
 */
struct nof_queue {
	struct nof_ctrl		*ctrl;
	u16			qid;
	u8			type;
	bool			sq_flow;
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
	unsigned long		busy;
	bool			watched;
	struct list_head	starved;
	struct list_head	unprepared;
	atomic_t		rooms;
};

/**
 * struct nof_completed - what is done, and ends later
 * @iob:	requests without an error: @own, or that of the block layer, which ends them itself
 * @own:	see @iob
 * @requests:	the others, by queuelist
 * @bios:	of requests that have given their tags up, see mpath/park.h
 *
 * The end of a bio is somebody else's code, which may take long, and in process context may sleep. So requests are
 * collected where locks are held, and end after that.
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
 * Ends what was collected. Context: softirq or process; there without locks, and outside of the SRCU read side. A
 * caller that must hold a lock disables softirqs.
 */
void nof_completed_end(struct nof_completed *done);

/**
 * nof_queue_find() - the command a completion, data or R2T PDU speaks of
 * @queue:	the queue it came in on
 * @cid:	command identifier from the wire
 *
 * Returns NULL unless a command with exactly this identifier, generation included, is
 * outstanding on this queue and its state is NOF_CMD_SENT. NULL means that the target broke the protocol: reset the
 * queue.
 * Context: the transport's receive side of @queue (one at a time per queue). Does not sleep.
 */
struct nof_cmd *nof_queue_find(struct nof_queue *queue, __le16 cid);

/**
 * nof_cmd_complete() - hand a command back
 * @cmd:	outstanding on cmd->queue
 * @status:	NVMe status without phase bit
 * @result:	dwords 0 and 1 of the completion
 * @done:	what the caller ends with nof_completed_end()
 *
 * Exactly once for each command: by the transport's receive side, or by the core after stop_queue().
 * The command may be reused before this returns. Context: softirq or process; does not sleep.
 */
void nof_cmd_complete(struct nof_cmd *cmd, u16 status, const union nvme_result *result, struct nof_completed *done);

/**
 * struct nof_detach - a command to be taken off a queue whose peer does not answer
 * @index:	its place in the queue's table
 * @may:	whether the one that is there now may be taken off; @sent: the peer may have it. Called with what keeps
 *		it there held: does not sleep
 * @placeholder: takes the slot of one that the peer may have: what still comes for it is thrown away, and completes
 *		the placeholder. Zeroed; its done is set
 * @used:	@placeholder is the queue's, or completed already
 */
struct nof_detach {
	u32		index;
	bool		(*may)(const struct nof_cmd *cmd, bool sent);
	struct nof_cmd	*placeholder;
	bool		used;
};

/**
 * nof_cmd_detach() - takes a command off its queue without a completion
 * @cmd:	outstanding; neither sent nor completed meanwhile
 * @d:		as given to the transport's detach()
 * @sent:	the peer may have heard of the command
 */
void nof_cmd_detach(struct nof_cmd *cmd, struct nof_detach *d, bool sent);

/**
 * nof_queue_room() - a resource is free again for whose lack prepare() returned -EAGAIN
 * @queue:	its first waiter is run again
 *
 * Context: any, does not sleep.
 */
void nof_queue_room(struct nof_queue *queue);

/**
 * nof_queue_error() - this connection is no longer good
 * @queue:	any state; from the second call on nothing happens
 * @cause:	who has ended it, as far as is known
 * @err:	negative errno
 * @fmt:	what happened, for a person and the log: no trailing newline
 *
 * Records the reason and starts recovery (or fails the connect attempt under way); the core calls stop_queue() and
 * cancels what is outstanding. Context: any, does not sleep.
 */
__printf(4, 5) void nof_queue_error(struct nof_queue *queue, enum nof_cause cause, int err, const char *fmt, ...);

/* Below: for the core and mpath/ only. */
struct nof_queue *nof_queue_alloc(struct nof_ctrl *ctrl, u16 qid, u8 type, u32 size, u32 limit);
void nof_queue_free(struct nof_queue *queue);
/* Two halves of taking a queue down: no new commands (then one synchronize_srcu() for all), and stop and cancel. */
void nof_queue_close(struct nof_queue *queue);
void nof_queue_cancel(struct nof_queue *queue, struct nof_completed *done);
/*
 * Puts cmd into a slot, assigns its identifier and has the transport prepare it for sending. -EBUSY: the queue is full;
 * -ENOTCONN: not live; else as the transport's prepare(). SRCU read side.
 */
int nof_queue_add(struct nof_queue *queue, struct nof_cmd *cmd);
/*
 * Has the context run again once a retry is worthwhile after this error of nof_queue_add(): -EBUSY, a slot is free;
 * -EAGAIN, a resource of the transport is. SRCU read side.
 */
void nof_queue_starve(struct nof_queue *queue, struct nof_starved *who, int err);
/* Nobody runs it any more. Context: process. */
void nof_queue_unstarve(struct nof_starved *who, struct srcu_struct *srcu);
/*
 * Takes requests off the queue that @may names (see struct nof_detach) and has them sent again; returns how many.
 * Process context, sleeps, no lock held; the queue stays, but may be taken down meanwhile.
 */
u32 nof_queue_detach(struct nof_queue *queue, bool (*may)(const struct nof_cmd *cmd, bool sent));
/* How long the oldest command that was detached is not answered; 0: there is none */
u32 nof_queue_detached_ms(struct nof_queue *queue);
/*
 * As ctrl_exec(), on a given queue. @late: called when timeout_ms, not 0, has passed; then the command has the
 * default time on top, and only after that recovery is started. NULL: that is at once.
 */
typedef void nof_exec_late_fn(struct nof_queue *queue, const struct nof_cmd *cmd);
int nof_queue_exec(struct nof_queue *queue, struct nof_cmd *cmd, u32 timeout_ms, nof_exec_late_fn *late);
/* Until what the caller has sent to the admin queue is done: in time, or because the queue is taken down then. */
void nof_queue_wait(struct nof_ctrl *ctrl, u8 opcode, struct completion *done);

/* Slow half of nof_watch_kick(). Any context, SRCU read side. */
void nof_watch_begin(struct nof_queue *queue);

/* Something is outstanding, as its count already says. On the hot path: a read of what hardly ever changes. */
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
