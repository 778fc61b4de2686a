/* SPDX-License-Identifier: GPL-2.0-only */
/* A controller: one association with one fabric address. */
#ifndef NOF_CORE_CTRL_H
#define NOF_CORE_CTRL_H

#include <linux/cdev.h>
#include <linux/completion.h>
#include <linux/device.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/nvme.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <uapi/linux/nvmeof.h>
#include "core/auth.h"
#include "core/options.h"
#include "core/tls_key.h"
#include "core/probation.h"
#include "core/queue.h"
#include "wire/effects.h"
#include "wire/identify.h"

struct netlink_ext_ack;
struct nof_fence;
struct nof_subsys;
struct nof_transport;

#define NOF_ADMIN_DEPTH			32
#define NOF_ERROR_TEXT			224

/* Request limits of a transport; mpath/limits.c combines them with the limits of the controller. */
struct nof_transport_limits {
	u32	max_segments;
	u32	max_data;		/* bytes in one command; 0: not limited by the transport */
	unsigned long	virt_boundary;	/* mask, as for blk_queue_virt_boundary() */
	bool	p2p;			/* can access PCI peer-to-peer memory, see core/direct.h */
	bool	pi;			/* carries protection information at the end of each block */
	bool	gpu;			/* can access GPU memory if a provider is registered, see core/direct.h */
};

/* Owner of an admin command; see max_slots() in core/admin.c */
enum nof_admin_user { NOF_ADMIN_DRIVER, NOF_ADMIN_USER, NOF_ADMIN_UNPRIVILEGED, NOF_ADMIN_ABORT, NOF_NR_ADMIN_USERS };

enum nof_ctrl_flag {
	NOF_CTRL_TBKAS,			/* traffic based keep-alive */
	NOF_CTRL_AEN,			/* an Asynchronous Event Request is kept outstanding while LIVE */
	NOF_CTRL_AEN_OUT,		/* aen.cmd is outstanding */
	NOF_CTRL_FAIL_FAST,		/* fast_io_fail_tmo has passed: I/O does not wait for this controller */
	NOF_CTRL_ATTEMPT_FAILED,	/* an error occurred outside LIVE: the connect attempt has failed */
	NOF_CTRL_ADDED,			/* nof_ctrl_create() has completed: may be deleted */
	NOF_CTRL_EVER_LIVE,
	NOF_CTRL_EVER_SCANNED,		/* a scan has completed: its namespaces are those with a path */
	NOF_CTRL_PATHS_OVERDUE,		/* a connection, attempt or scan failed, see nof_ctrl_paths_overdue() */
	NOF_CTRL_REFUSED,		/* a namespace was refused: rescan on path removal. Under subsys->lock */
	NOF_CTRL_RESET,			/* set before an intentional reset, which is not counted as a path failure */
	NOF_CTRL_KA_OUT,		/* ka.cmd is outstanding */
	NOF_CTRL_SHUTDOWN_SENT,		/* shutdown was requested: the target may close its connections */
	NOF_CTRL_EXPLICIT_DELETE,	/* deleted on request: disks that lose their last path with it do not linger */
	NOF_CTRL_PAUSED,		/* is activating firmware: no new I/O, see core/aer.c */
	NOF_CTRL_EXCHANGE,		/* its transport module is being exchanged, see core/transport.c */
};

/**
 * struct nof_watch - state of core/stall_watch.c for a controller; written by its work, some read by other works
 * @queues:	queues that have outstanding commands, or had some a moment ago
 * @fresh:	queues to be added to @queues; under ctrl->state_lock
 * @looked_at, @probed_at, @judged_at: jiffies of the last look, Keep Alive probe and stall check
 * @no_io_ms:	how long I/O has been outstanding without any completing
 * @no_response_ms:	how long a Keep Alive has been outstanding without any command completing
 * @longest_gap_us:	the longest recent @no_io_ms
 * @io_overdue:	@no_io_ms is longer than usual
 * @silent:	on some connection the peer owes a response and is silent
 * @other_heard_ms:	how long some connection has been heard from while another one has not
 * @io_progress:	I/O has completed since it became suspect
 * @suspicions:	times it became suspect
 * @suspect_at:	jiffies when it last became suspect or was used again; valid if @suspicions is not 0
 * @stalls, @stalled_at: likewise, because no I/O completed although it answers
 * @min_suspect_ms:	minimum time without new I/O once suspect
 * @detached_at: jiffies since when detached commands may be unanswered; 0: never
 * @silence_logged:	silence without another path has been logged
 * @running:	the work is already scheduled; under ctrl->state_lock
 */
struct nof_watch {
	struct delayed_work work;
	struct list_head queues;
	struct list_head fresh;
	unsigned long	suspect_at;
	unsigned long	stalled_at;
	u32		suspicions;
	u32		stalls;
	u32		min_suspect_ms;
	/* state of the association: cleared at its end */
	struct_group(association,
		unsigned long	looked_at;
		unsigned long	probed_at;
		unsigned long	judged_at;
		unsigned long	detached_at;
		u32		no_io_ms;
		u32		no_response_ms;
		u32		longest_gap_us;
		u32		other_heard_ms;
		bool		io_overdue;
		bool		silent;
		bool		io_progress;
		bool		silence_logged;
		bool		running;
	);
};

/* Number of command sets unknown to the driver whose effects are kept */
#define NOF_OTHER_SETS	4

/**
 * struct nof_ctrl_effects - command effects, known to the driver or reported by the controller
 * @admin:	of admin commands
 * @nvm, @zns:	of I/O commands, by command set
 * @other:	of command sets unknown to the driver; csi 0: free entry. Under subsys->lock
 */
struct nof_ctrl_effects {
	struct nof_effects	admin;
	struct nof_effects	nvm;
	struct nof_effects	zns;
	struct nof_other_effects {
		u8			csi;
		u32			association;	/* in which the log was read */
		struct nof_effects	of;
	} other[NOF_OTHER_SETS];
};

/**
 * struct nof_admin_slots - outstanding admin commands, see core/admin.c
 * @lock:	protects @used
 * @used:	slots of the admin queue in use, by owner
 * @wq:		woken when a slot is freed, and when @users or ctrl->queues.users drops to 0
 * @users:	callers inside admin_exec()
 * @driver:	callers with a command of the driver, or waiting for a slot for one
 * @driver_at:	jiffies when one of these last completed, or the first began
 */
struct nof_admin_slots {
	spinlock_t		lock;
	u8			used[NOF_NR_ADMIN_USERS];
	wait_queue_head_t	wq;
	atomic_t		users;
	atomic_t		driver;
	unsigned long		driver_at;
};

/**
 * struct nof_ctrl_scan - namespace scan, see core/scan.c
 * @lock:	serialises scans and the removal of this controller's paths
 * @failures:	consecutive scans that have to be repeated
 * @done:	complete scans since it became LIVE
 * @not_before:	jiffies of the earliest start of the next scan
 */
struct nof_ctrl_scan {
	struct mutex		lock;
	struct delayed_work	work;
	u32			failures;
	u32			done;
	unsigned long		not_before;
};

/**
 * struct nof_recovery - connecting and reconnecting, see core/recovery.c and core/connect.c
 * @connect_work: the first connect
 * @work:	takes the queues down when the connection is lost in LIVE
 * @teardown_work:	likewise after an error in any other state
 * @lost_work:	removes the paths of a LOST controller
 * @lost_disks:	disks that it had when it was LOST, a bitmap by head number of @lost_disks_bits; under subsys->lock
 * @attempts:	connect attempts since it was LIVE
 * @flaps:	consecutive losses soon after it became LIVE
 * @lost_at, @live_at: jiffies when the connection was lost (or the first connect began), and when it last became LIVE
 */
struct nof_recovery {
	struct work_struct	connect_work;
	struct delayed_work	reconnect_work;
	struct work_struct	work;
	struct work_struct	teardown_work;
	struct delayed_work	fail_fast_work;
	struct work_struct	lost_work;
	unsigned long		*lost_disks;
	u32			lost_disks_bits;
	u32			attempts;
	u32			flaps;
	u32			reconnects;
	unsigned long		lost_at;
	unsigned long		live_at;
};

/**
 * struct nof_deletion - deletion of a controller, see core/recovery.c
 * @from:	state before DELETING; under state_lock
 * @stall_work:	cancels outstanding commands if nothing completes any more
 * @done:	complete_all() when the controller is in no listing any more
 */
struct nof_deletion {
	u8			from;
	struct work_struct	work;
	struct delayed_work	stall_work;
	struct completion	done;
};

/**
 * struct nof_association_end - how the association ended; written before its requests are cancelled, read afterwards
 * @cause:	enum nof_cause of the first error; written under state_lock
 * @cut_off:	the peer owed a response and was silent
 * @quiet_ms:	time since the last sign of life on any connection
 */
struct nof_association_end {
	u8			cause;
	bool			cut_off;
	u32			quiet_ms;
};

/**
 * struct nof_keep_alive - Keep Alive, see core/keepalive.c
 * @sent_at:	jiffies when the outstanding one was sent
 * @blocked_at:	jiffies of the first of consecutive attempts that could not be sent; 0 if the last one was
 * @tmo_ms:	keep-alive timeout in effect; 0: none
 */
struct nof_keep_alive {
	struct delayed_work	work;
	struct nof_cmd		*cmd;
	unsigned long		sent_at;
	unsigned long		blocked_at;
	u32			tmo_ms;
};

/**
 * struct nof_aen - asynchronous events, see core/aer.c
 * @work:	processes the event that completed @cmd
 * @arm_work:	sends @cmd again after a delay
 * @refused:	consecutive times that the controller rejected @cmd
 * @nr:		events in the second that began at @since (jiffies)
 */
struct nof_aen {
	struct work_struct	work;
	struct delayed_work	arm_work;
	struct nof_cmd		*cmd;
	u32			result;
	u16			status;
	u8			refused;
	u32			nr;
	unsigned long		since;
};

/**
 * struct nof_fw_activation - firmware activation, see core/aer.c
 * @work:	polls until the firmware is active
 * @deadline:	jiffies by which the firmware must be active; valid with NOF_CTRL_PAUSED
 */
struct nof_fw_activation {
	struct delayed_work	work;
	unsigned long		deadline;
};

/**
 * struct nof_ctrl_uevents - uevents of a controller, see control/events.c
 * @pending:	bits of the uevents to send
 * @next:	jiffies before which no further asynchronous event is reported
 * @aen:	the last asynchronous event to report, other than @disc_aen
 * @disc_aen:	a change of the discovery log to report
 */
struct nof_ctrl_uevents {
	struct delayed_work	work;
	unsigned long		pending;
	unsigned long		next;
	u32			aen;
	u32			disc_aen;
};

/**
 * struct nof_ctrl_ana - ANA, see mpath/ana.c; @groups under subsys->lock
 * @lock:	held while the log is read and applied
 * @groups:	ANA state by group ID
 * @backoff_work:	uses paths again that rejected commands although the log permits access
 * @anatt_work:	handles paths in ANA state change for longer than ANATT
 */
struct nof_ctrl_ana {
	struct mutex		lock;
	struct xarray		groups;
	struct work_struct	work;
	struct delayed_work	backoff_work;
	struct delayed_work	anatt_work;
};

/**
 * struct nof_last_error - last error of a controller
 * @lock:	protects this structure and opts.owner
 * @notes:	errors recorded so far; unchanged if an attempt failed without recording one
 * @err:	positive errno
 * @logged_attempt: last attempt whose error was logged, with @logged_err
 */
struct nof_last_error {
	spinlock_t		lock;
	u32			notes;
	char			text[NOF_ERROR_TEXT];
	int			err;
	u16			status;
	u32			logged_attempt;
	int			logged_err;
};

/**
 * struct nof_ctrl_queues - queues of a controller
 * @stop_lock:	serialises taking the queues down and freeing them; outer to @lock
 * @lock:	protects @admin, @io, @nr_io and @map; short sections, inside subsys->lock
 * @admin:	SRCU; allocated anew for each connect attempt, like the I/O queues
 * @io:		I/O queues in ascending order of qid: first the default ones, then the poll queues
 * @nr_io:	queues in @io
 * @nr_granted:	I/O queues granted by the target; fewer may be used. @nr_missing: did not start
 * @nr_default, @nr_poll: default and poll queues in @io
 * @map:	queue of each hardware context; SRCU
 * @users:	callers between nof_queues_get() and nof_queues_put()
 */
struct nof_ctrl_queues {
	struct mutex		stop_lock;
	struct mutex		lock;
	struct nof_queue __rcu	*admin;
	struct nof_queue	**io;
	u32			nr_io;
	u32			nr_granted;
	u32			nr_missing;
	u32			nr_default;
	u32			nr_poll;
	struct nof_ctrl_map __rcu *map;
	atomic_t		users;
};

/**
 * struct nof_ctrl - controller
 * @dev:	/sys/class/nvmeof/nvmeof0c1; its reference count is that of the controller
 * @subsys:	the controller holds a reference
 * @entry:	in subsys->ctrls, under subsys->lock
 * @nr:		order in that list, see nof_topology_changed()
 * @id:		the 1 of nvmeof0c1
 * @transport:	NULL while it waits for one, see core/transport.c. Like @tp_ready under subsys->lock, and stable while
 *		there are queues
 * @tp:		the transport's; @tp_ready: ctrl_init() done, ctrl_exit() not
 * @limits:	as of the last connect attempt
 * @copies:	the transport copies what it sends
 * @state:	enum nvmeof_ctrl_state, changed under @state_lock by nof_ctrl_set_state() and, from LIVE to RECOVERING,
 *		nof_ctrl_error(); read with nof_ctrl_state()
 * @flags:	enum nof_ctrl_flag
 * @state_wq:	woken at each change of @state
 * @suspect:	gets no new I/O if there is another path, see core/stall_watch.c
 * @nr_paths:	namespaces reached through it; written under subsys->lock
 * @cap, @vs, @cntlid, @ident, @nvm, @effects: reported by the target, checked, stable while LIVE
 * @max_append:	maximum bytes of a Zone Append; 0: no limit of its own
 * @sq_flow:	submission queue flow control, as agreed in Connect
 * @sqsize:	entries of each I/O queue: opts.queue_size or CAP.MQES + 1 if that is less
 * @discovery:	a discovery controller: no I/O queues
 * @connection:	raised by each connect attempt
 * @association: likewise, and by commands that may change namespaces, see mpath/path.h
 * @fence:	of the association, see mpath/fence.c
 */
struct nof_ctrl {
	struct device		dev;
	struct cdev		cdev;
	struct nof_subsys	*subsys;
	struct list_head	entry;
	u64			nr;
	u32			id;
	struct nof_opts		opts;

	struct nof_transport	*transport;
	void			*tp;
	bool			tp_ready;
	bool			copies;
	struct nof_transport_limits limits;

	spinlock_t		state_lock;
	u8			state;
	bool			suspect;
	unsigned long		flags;
	wait_queue_head_t	state_wq;

	struct nof_ctrl_queues	queues;
	struct nof_admin_slots	slots;
	struct nof_ctrl_auth	auth;
	struct nof_ctrl_tls	tls;
	u32			nr_paths;

	u64			cap;
	u32			vs;
	u16			cntlid;
	struct nof_ctrl_id	ident;
	struct nof_nvm_limits	nvm;
	struct nof_ctrl_effects effects;
	u32			max_append;
	bool			sq_flow;
	bool			discovery;
	u16			sqsize;
	u32			shutdown_tmo_ms;
	u32			ready_tmo_ms;

	u32			connection;
	u32			association;
	struct nof_fence	*fence;
	struct nof_recovery	recovery;
	struct nof_association_end end;
	struct nof_deletion	deletion;
	struct nof_probation	probation;
	struct nof_ctrl_scan	scan;
	struct nof_watch	watch;
	struct nof_keep_alive	ka;
	struct nof_aen		aen;
	struct nof_fw_activation fw;
	struct nof_ctrl_uevents	uevent;
	struct nof_ctrl_ana	ana;
	struct nof_last_error	error;
};

/* @queues: indexed by hardware context of the subsystem's tag set */
struct nof_ctrl_map {
	u32			nr;
	struct nof_queue	*queues[] __counted_by(nr);
};

static inline enum nvmeof_ctrl_state nof_ctrl_state(const struct nof_ctrl *ctrl)
{
	return READ_ONCE(ctrl->state);
}

/* Whether the controller activates firmware and the time limit of that (MTFA) has not passed */
static inline bool nof_ctrl_is_paused(const struct nof_ctrl *ctrl)
{
	return test_bit(NOF_CTRL_PAUSED, &ctrl->flags) && time_before(jiffies, READ_ONCE(ctrl->fw.deadline));
}

static inline struct nof_ctrl *to_nof_ctrl(struct device *dev)
{
	return container_of(dev, struct nof_ctrl, dev);
}

static inline struct nof_ctrl *nof_ctrl_get(struct nof_ctrl *ctrl)
{
	get_device(&ctrl->dev);
	return ctrl;
}

static inline void nof_ctrl_put(struct nof_ctrl *ctrl)
{
	put_device(&ctrl->dev);
}

static inline const char *nof_ctrl_name(const struct nof_ctrl *ctrl)
{
	return dev_name(&ctrl->dev);
}

/*
 * Functions for control/. Context: process, may sleep, unless stated otherwise. Errors are negative errnos; @extack
 * receives the reason.
 */

/**
 * nof_ctrl_create() - create a controller, which then connects in the background
 * @opts:	syntax checked by the caller; everything else is checked here
 * @found:	on -EALREADY: name of the existing controller (NVMEOF_NAME_MAX + 1 bytes)
 * @extack:	receives the reason of a refusal
 * Return: the controller, with a reference for the caller, or an ERR_PTR.
 */
struct nof_ctrl *nof_ctrl_create(const struct nof_opts *opts, char *found, struct netlink_ext_ack *extack);
/* Starts the deletion, if it has not started. Returns 0, or -EAGAIN while the controller is being created. */
int nof_ctrl_delete(struct nof_ctrl *ctrl, struct netlink_ext_ack *extack);
/* Waits until the controller is in no listing any more; may take as long as writeback. Returns 0. */
int nof_ctrl_wait_deleted(struct nof_ctrl *ctrl, struct netlink_ext_ack *extack);
/*
 * Drops the association and reconnects; a LOST controller is tried again at once. Does not wait. Returns 0, or -EBUSY
 * in states other than LIVE and LOST.
 */
int nof_ctrl_reset(struct nof_ctrl *ctrl, struct netlink_ext_ack *extack);
/*
 * NVM Subsystem Reset: resets all controllers of the subsystem, including those of other hosts. Does not wait. Returns
 * 0, a positive NVMe status, -ENOTTY if the controller does not support it, -EBUSY unless LIVE, or the negative errno
 * of the command.
 */
int nof_ctrl_reset_subsys(struct nof_ctrl *ctrl);
/* Scans namespaces and waits for the end of the scan. Returns 0, -ENOTCONN unless LIVE, or the error of the scan. */
int nof_ctrl_rescan(struct nof_ctrl *ctrl, struct netlink_ext_ack *extack);
/*
 * Must be called after opts.reconnect_delay_ms, ctrl_loss_tmo_ms or fast_io_fail_tmo_ms were changed (with
 * WRITE_ONCE()): applies the new values to waits in progress, counted from the loss of the connection.
 */
void nof_ctrl_timers_changed(struct nof_ctrl *ctrl);
/* Returns the controller of that name ("nvmeof0c1") with a reference, or NULL */
struct nof_ctrl *nof_ctrl_find(const char *name);
/* Number of commands outstanding on the I/O queues */
u32 nof_ctrl_inflight(struct nof_ctrl *ctrl);
/* Waits for an admin queue slot; some are reserved for the driver. Returns 0, or -EINTR if the task was killed. */
int nof_admin_take(struct nof_ctrl *ctrl, enum nof_admin_user kind);
/* Frees a slot of @kind. Context: any. */
void nof_admin_leave(struct nof_ctrl *ctrl, enum nof_admin_user kind);
/*
 * Sends an admin command of userspace, which holds a slot, and waits for it. When @timeout_ms, not 0, passes, an Abort
 * is sent and the wait goes on for the default time, then recovery is started; a discovery controller gets no Abort and
 * no more time. Returns 0, a positive NVMe status, or a negative errno: -ENOTCONN (queue full or not connected),
 * -ECONNRESET (cancelled), or, not sent, -ETIMEDOUT, -EOPNOTSUPP or -EIO.
 */
int nof_ctrl_exec_user(struct nof_ctrl *ctrl, struct nof_cmd *cmd, u32 timeout_ms);

/* The functions below are for core/ and mpath/ only. */
bool nof_ctrl_set_state(struct nof_ctrl *ctrl, enum nvmeof_ctrl_state to);
/* Records an error (@err: negative errno; @status: NVMe status, or 0) and logs it. Context: any. */
__printf(4, 5) void nof_ctrl_note(struct nof_ctrl *ctrl, int err, u16 status, const char *fmt, ...);
/* Ends the association: starts recovery if LIVE, else takes the queues down, which fails the attempt. Context: any. */
void nof_ctrl_error(struct nof_ctrl *ctrl, enum nof_cause cause);
/*
 * Starts recovery if LIVE, else returns false and does nothing. @reset: intentional, not a path failure. Context: any.
 */
bool nof_ctrl_error_live(struct nof_ctrl *ctrl, bool reset);
/* Starts the deletion in the background. Returns false if it has been started before. Context: process. */
bool nof_ctrl_delete_start(struct nof_ctrl *ctrl);
/* Effects of the I/O commands of @csi; NULL: unknown, so none is harmless. Caller holds subsys->lock. */
const struct nof_effects *nof_ctrl_effects(const struct nof_ctrl *ctrl, u8 csi);
/*
 * True if the effects log of a command set unknown to the driver must be read: once in each association, and only if
 * its effects can be kept. Caller holds subsys->lock.
 */
bool nof_ctrl_effects_due(struct nof_ctrl *ctrl, u8 csi, u32 association);
/*
 * Keeps the effects of a command set unknown to the driver, if an entry is free. @log: as received in @association, or
 * NULL. Caller holds subsys->lock.
 */
void nof_ctrl_set_effects(struct nof_ctrl *ctrl, u8 csi, u32 association, const struct nvme_effects_log *log);
/*
 * True if a connect or scan failed before the first complete scan, so that the namespaces are unknown: any disk may get
 * a path through this controller.
 */
bool nof_ctrl_paths_overdue(const struct nof_ctrl *ctrl);

#endif
