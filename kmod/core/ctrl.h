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
#include "core/probation.h"
#include "core/queue.h"
#include "wire/effects.h"
#include "wire/identify.h"

struct net;
struct netlink_ext_ack;
struct nof_fence;
struct nof_subsys;
struct nof_transport;

/* Bits of nof_transport.options and nof_opts.given */
enum {
	NOF_OPT_HOST_TRADDR	= BIT(0),
	NOF_OPT_HOST_IFACE	= BIT(1),
	NOF_OPT_TOS		= BIT(2),
	NOF_OPT_HDR_DIGEST	= BIT(3),
	NOF_OPT_DATA_DIGEST	= BIT(4),
	NOF_OPT_POLL_QUEUES	= BIT(5),
	NOF_OPT_ACK		= BIT(6),	/* ack_tmo_ms or retry_count */
};

/*
 * What CTRL_NEW asked for, with defaults filled in; units as in the uapi header. @given: NOF_OPT_* that were present.
 */
struct nof_opts {
	char		transport[NVMEOF_POLICY_MAX + 1];
	char		traddr[NVMEOF_TRADDR_MAX + 1];
	char		trsvcid[NVMEOF_TRADDR_MAX + 1];
	char		host_traddr[NVMEOF_TRADDR_MAX + 1];
	char		host_iface[NVMEOF_TRADDR_MAX + 1];
	char		subsysnqn[NVMEOF_NQN_MAX + 1];
	char		hostnqn[NVMEOF_NQN_MAX + 1];
	char		owner[NVMEOF_NAME_MAX + 1];	/* changed under error.lock */
	u8		hostid[NVMEOF_HOSTID_LEN];
	struct net	*net;				/* of the caller; the controller holds a reference */
	unsigned long	given;
	u32		nr_io_queues;
	u32		nr_poll_queues;
	u32		queue_size;
	u32		tags;		/* 0: see mpath/subsys.c */
	u32		kato_ms;
	u32		reconnect_delay_ms;
	s32		ctrl_loss_tmo_ms;
	s32		fast_io_fail_tmo_ms;
	u32		connect_tmo_ms;
	u32		stall_tmo_ms;
	s32		first_connect_tmo_ms;
	u32		ack_tmo_ms;
	u32		retry_count;
	u8		tos;
	bool		hdr_digest;
	bool		data_digest;
	bool		sq_flow;
	bool		duplicate_connect;
	bool		kato_given;	/* else a shorter timeout may be agreed on */
};

#define NOF_DEF_QUEUE_SIZE		128
#define NOF_MIN_QUEUE_SIZE		16
#define NOF_MAX_QUEUE_SIZE		1024
#define NOF_MAX_IO_QUEUES		1024
#define NOF_DEF_TAGS			1024	/* at most, see mpath/subsys.c */
#define NOF_MIN_TAGS			64
#define NOF_MAX_TAGS			4096
#define NOF_DEF_KATO_MS			5000
#define NOF_SHORT_KATO_MS		2000	/* without one asked for, where the controller counts in such steps */
#define NOF_MIN_KATO_MS			1000U	/* as told by a controller, who would let go of us at once */
#define NOF_MAX_KATO_MS			600000U
#define NOF_DEF_RECONNECT_DELAY_MS	10000
#define NOF_DEF_CTRL_LOSS_TMO_MS	600000
#define NOF_DEF_CONNECT_TMO_MS		10000
#define NOF_DEF_STALL_TMO_MS		300
#define NOF_DEF_ACK_TMO_MS		134
#define NOF_MAX_ACK_TMO_MS		10000
#define NOF_DEF_RETRY_COUNT		7
#define NOF_MAX_RETRY_COUNT		7	/* for ever with some devices, see retry_count() in rdma/cm.c */
#define NOF_ADMIN_DEPTH			32
#define NOF_ERROR_TEXT			224

/* What a transport asks of the block layer; the core combines it with the controller's limits. */
struct nof_transport_limits {
	u32	max_segments;
	u32	max_data;		/* bytes in one command, 0 = no bound of its own */
	unsigned long	virt_boundary;	/* as blk_queue_virt_boundary() */
	bool	p2p;			/* reaches PCI peer-to-peer memory, see core/direct.h */
	bool	pi;			/* carries protection information at the end of each block */
	bool	gpu;			/* pages that stand for a GPU's memory, where somebody knows them */
};

/* Whose an admin command is */
enum nof_admin_user { NOF_ADMIN_DRIVER, NOF_ADMIN_USER, NOF_ADMIN_UNPRIVILEGED, NOF_ADMIN_ABORT, NOF_NR_ADMIN_USERS };

enum nof_ctrl_flag {
	NOF_CTRL_TBKAS,			/* traffic based keep-alive */
	NOF_CTRL_AEN,			/* asynchronous events are armed while live */
	NOF_CTRL_AEN_OUT,		/* aen.cmd is outstanding */
	NOF_CTRL_FAIL_FAST,		/* fast_io_fail_tmo has passed: I/O does not wait for this controller */
	NOF_CTRL_ATTEMPT_FAILED,	/* a queue failed during the connect attempt under way */
	NOF_CTRL_ADDED,			/* made in full; may be deleted */
	NOF_CTRL_EVER_LIVE,
	NOF_CTRL_EVER_SCANNED,		/* which namespaces it has is known: those with a path */
	NOF_CTRL_MISSED,		/* a first connect or scan has failed: nobody knows when it will have paths */
	NOF_CTRL_REFUSED,		/* for what another path has: scans again when that goes. Under subsys->lock */
	NOF_CTRL_RESET,			/* set before an intentional reset: its disconnect is no path failure */
	NOF_CTRL_KA_OUT,		/* ka.cmd is outstanding */
	NOF_CTRL_SHUT,			/* told to shut down: its connections may end */
	NOF_CTRL_UNWANTED,		/* deleted by request: disks that lose their last path with it do not linger */
	NOF_CTRL_PAUSED,		/* activates firmware: no new I/O, see core/aer.c */
	NOF_CTRL_YIELDS,		/* gives up its transport, or has none and waits: see core/transport.c */
};

/**
 * struct nof_watch - what core/watch.c remembers of a controller; written by its work, some read by those of others
 * @queues:	those with something outstanding, or that had a moment ago
 * @fresh:	those that are to be among them; under ctrl->state_lock
 * @looked_at, @probed_at, @judged_at: jiffies when it did so last
 * @still_ms:	I/O has been outstanding for so long and none completed
 * @mute_ms:	a Keep Alive has been outstanding for so long and no command of any kind completed
 * @usual_us:	the longest that @still_ms was of late
 * @still:	@still_ms is longer than usual
 * @silent:	some connection hears nothing that it is owed
 * @alive_ms:	for so long some connection was heard, while another one was not
 * @moved:	something has completed since it became suspect
 * @suspicions:	times it became suspect
 * @suspect_at:	jiffies when it last did, or was used again; valid with @suspicions
 * @stalls, @stalled_at: likewise, because it completed nothing although it answers
 * @rest_ms:	minimum time without new I/O
 * @detached_at: jiffies; requests were taken back from it, of which some are not answered since
 * @told:	that it is silent, and there is no other path, has been said
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
	u32		rest_ms;
	/* of the association: cleared at its end */
	struct_group(association,
		unsigned long	looked_at;
		unsigned long	probed_at;
		unsigned long	judged_at;
		unsigned long	detached_at;
		u32		still_ms;
		u32		mute_ms;
		u32		usual_us;
		u32		alive_ms;
		bool		still;
		bool		silent;
		bool		moved;
		bool		told;
		bool		running;
	);
};

/* Command sets that the driver does not know, but whose effects it keeps */
#define NOF_OTHER_SETS	4

/**
 * struct nof_ctrl_effects - what its commands do, as known and as the controller reports
 * @admin:	of admin commands
 * @nvm, @zns:	of I/O commands, by command set
 * @other:	of command sets that the driver does not know, as they are met; csi 0: a free entry. Under subsys->lock
 */
struct nof_ctrl_effects {
	struct nof_effects	admin;
	struct nof_effects	nvm;
	struct nof_effects	zns;
	struct nof_other_effects {
		u8			csi;
		u32			association;	/* that they were read in */
		struct nof_effects	of;
	} other[NOF_OTHER_SETS];
};

/**
 * struct nof_admin_slots - admin commands under way, see core/admin.c
 * @lock:	@used
 * @used:	slots of the admin queue, by owner
 * @wq:		woken when one is free
 * @users:	callers inside admin_exec()
 * @driver:	of these the driver's own,
 * @driver_at: and when one ended, or the first began; jiffies
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
 * struct nof_ctrl_scan - the scan for namespaces, see core/scan.c
 * @lock:	one scan at a time; removal of this controller's paths
 * @failures:	in a row
 * @done:	scans that ended well since it became live
 * @not_before:	jiffies; of the next one
 */
struct nof_ctrl_scan {
	struct mutex		lock;
	struct delayed_work	work;
	u32			failures;
	u32			done;
	unsigned long		not_before;
};

/**
 * struct nof_recovery - connecting, and connecting again, see core/recovery.c and core/connect.c
 * @connect_work: the first connect
 * @work:	takes the queues down when the connection is lost
 * @abort_work:	likewise when it is not live
 * @lost_work:	removes the paths of one that is LOST
 * @lost_disks:	that it had when it was LOST, a bitmap by number of @lost_disks_bits; under subsys->lock
 * @attempts:	since it was live
 * @flaps:	losses in a row soon after it became live
 * @lost_at, @live_at: jiffies when the connection was lost, and when it became live last
 */
struct nof_recovery {
	struct work_struct	connect_work;
	struct delayed_work	reconnect_work;
	struct work_struct	work;
	struct work_struct	abort_work;
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
 * struct nof_deletion - its end, see core/recovery.c
 * @from:	the state that DELETING came from; under state_lock
 * @watch_work:	bounds the deletion when nothing completes any more
 * @done:	complete_all() when it is out of every listing
 */
struct nof_deletion {
	u8			from;
	struct work_struct	work;
	struct delayed_work	watch_work;
	struct completion	done;
};

/**
 * struct nof_association_end - how the association ended; written before its requests are cancelled, read after that
 * @cause:	enum nof_cause of the first error; written under state_lock
 * @cut_off:	the peer owed an answer, and was silent
 * @quiet_ms:	since the last sign of life on any of its connections
 */
struct nof_association_end {
	u8			cause;
	bool			cut_off;
	u32			quiet_ms;
};

/**
 * struct nof_keep_alive - see core/watch.c
 * @sent_at:	jiffies; of the one that is outstanding, or of the last
 * @tmo_ms:	keep-alive timeout in effect; 0: none
 */
struct nof_keep_alive {
	struct delayed_work	work;
	struct nof_cmd		*cmd;
	unsigned long		sent_at;
	u32			tmo_ms;
};

/**
 * struct nof_aen - asynchronous events, see core/aer.c
 * @work:	looks at what @cmd has brought
 * @arm_work:	sends it again after a delay
 * @refused:	times in a row
 * @nr:		events in the second from @since (jiffies)
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
 * struct nof_fw_activation - see core/aer.c
 * @work:	looks whether the firmware is active
 * @deadline:	jiffies; of that, with NOF_CTRL_PAUSED
 */
struct nof_fw_activation {
	struct delayed_work	work;
	unsigned long		deadline;
};

/**
 * struct nof_ctrl_uevents - for udev, see control/events.c
 * @pending:	bits
 * @next:	jiffies; an asynchronous event is not told before
 * @aen:	that event
 */
struct nof_ctrl_uevents {
	struct work_struct	work;
	unsigned long		pending;
	unsigned long		next;
	u32			aen;
};

/**
 * struct nof_ctrl_ana - ANA, see mpath/ana.c; all but @lock under subsys->lock
 * @lock:	reading the log and applying it are one
 * @groups:	state by ANA group
 * @doubt_work:	a path has rested that refuses what the log allows
 * @anatt_work:	a path has been in state change for longer than ANATT
 */
struct nof_ctrl_ana {
	struct mutex		lock;
	struct xarray		groups;
	struct work_struct	work;
	struct delayed_work	doubt_work;
	struct delayed_work	anatt_work;
};

/**
 * struct nof_last_error - the last thing that went wrong
 * @lock:	all of this, and opts.owner
 * @notes:	so far: an attempt that failed and added none is not explained yet
 * @err:	positive errno
 * @logged_attempt: what went wrong in it is in the log, with @logged_err
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
 * struct nof_ctrl - controller
 * @dev:	/sys/class/nvmeof/nvmeof0c1; its reference count is the controller's
 * @subsys:	holds a reference
 * @entry:	in subsys->ctrls, under subsys->lock
 * @nr:		place in that list, see nof_topology_changed()
 * @id:		the 1 of nvmeof0c1
 * @transport:	NULL while it waits for one, see core/transport.c; like @tp_ready under subsys->lock, and stable while
 *		there are queues
 * @tp:		the transport's; @tp_ready: ctrl_init() done, ctrl_exit() not
 * @limits:	as of the last connect attempt
 * @copies:	the transport copies what it sends
 * @state:	enum nvmeof_ctrl_state, changed by nof_ctrl_set_state() only, under @state_lock; read with
 *		nof_ctrl_state()
 * @flags:	enum nof_ctrl_flag
 * @state_wq:	woken at each change of state
 * @suspect:	does not answer: no new I/O where there is another path, see core/watch.c
 * @stop_lock:	serialises taking the queues down and freeing them; outer to @queues_lock
 * @queues_lock: @admin, @io and @map; held shortly, inside subsys->lock
 * @admin:	SRCU; made anew for each connect attempt, like the queues below
 * @io:		@io[i] has qid i + 1: first the default ones, then the poll queues
 * @nr_io:	queues in @io
 * @nr_granted:	by the target, of either kind; fewer may be used. @nr_missing: of these, did not start
 * @nr_default, @nr_poll: granted, not polled and polled
 * @nr_paths:	namespaces reached through it; written under subsys->lock
 * @map:	SRCU; which queue is whose
 * @io_users:	see nof_queues_get()
 * @cap, @vs, @cntlid, @ident, @nvm, @effects: from the target, checked, stable once LIVE
 * @max_append:	bytes of a Zone Append
 * @sq_flow:	submission queue flow control, as agreed
 * @sqsize:	granted: CAP.MQES and the option
 * @discovery:	a discovery controller: no I/O queues
 * @association: number of the connect attempt that it is of, see mpath/path.h
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

	struct mutex		stop_lock;
	struct mutex		queues_lock;
	struct nof_queue __rcu	*admin;
	struct nof_queue	**io;
	u32			nr_io;
	u32			nr_granted;
	u32			nr_missing;
	u32			nr_default;
	u32			nr_poll;
	u32			nr_paths;
	struct nof_ctrl_map __rcu *map;
	atomic_t		io_users;
	struct nof_admin_slots	slots;

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

/* @queues: by hardware context of the subsystem's tag set */
struct nof_ctrl_map {
	u32			nr;
	struct nof_queue	*queues[] __counted_by(nr);
};

static inline enum nvmeof_ctrl_state nof_ctrl_state(const struct nof_ctrl *ctrl)
{
	return READ_ONCE(ctrl->state);
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
 * What control/ calls. All in process context, may sleep; errors are negative errno with an extack message.
 */

/**
 * nof_ctrl_create() - a new controller, connecting in the background
 * @opts:	checked for syntax by the caller; the core checks what needs more
 * @found:	at -EALREADY: the name of the controller already there (NVMEOF_NAME_MAX + 1 bytes)
 * @extack:	receives the reason of a refusal
 * Returns a controller with a reference for the caller, or ERR_PTR.
 */
struct nof_ctrl *nof_ctrl_create(const struct nof_opts *opts, char *found, struct netlink_ext_ack *extack);
/* Starts its deletion, if nobody has; -EAGAIN when it is only just being made. */
int nof_ctrl_delete(struct nof_ctrl *ctrl, struct netlink_ext_ack *extack);
/* Until it is gone from every listing. Context: process, may take as long as write-back does. */
int nof_ctrl_wait_deleted(struct nof_ctrl *ctrl, struct netlink_ext_ack *extack);
/*
 * Drops the association and connects again; one that is LOST is tried again at once. -EBUSY in other states than LOST
 * and LIVE. Returns before it is done.
 */
int nof_ctrl_reset(struct nof_ctrl *ctrl, struct netlink_ext_ack *extack);
/*
 * NVM Subsystem Reset: all controllers of the subsystem start over, those of other hosts, too, and are connected again.
 * -ENOTTY where the controller has none, -EBUSY unless live, or the NVMe status. Returns before it is done.
 */
int nof_ctrl_reset_subsys(struct nof_ctrl *ctrl);
/* Scans namespaces now. -ENOTCONN unless live. */
int nof_ctrl_rescan(struct nof_ctrl *ctrl, struct netlink_ext_ack *extack);
/*
 * opts.reconnect_delay_ms, ctrl_loss_tmo_ms or fast_io_fail_tmo_ms have new values (written with WRITE_ONCE()): makes
 * waits that are running follow them, counted from when the connection was lost.
 */
void nof_ctrl_timers_changed(struct nof_ctrl *ctrl);
/* By name ("nvmeof0c1"), with a reference; NULL if none */
struct nof_ctrl *nof_ctrl_find(const char *name);
/* Commands outstanding on all queues */
u32 nof_ctrl_inflight(struct nof_ctrl *ctrl);
/* Waits for a slot of the admin queue; some are not for userspace. -EINTR: killed. Context: process, sleeps. */
int nof_admin_take(struct nof_ctrl *ctrl, enum nof_admin_user kind);
/* Any context */
void nof_admin_leave(struct nof_ctrl *ctrl, enum nof_admin_user kind);
/*
 * As ctrl_exec(), for userspace, which has a slot. Where I/O depends on the controller and timeout_ms, not 0, has
 * passed, an Abort is sent, and the command waited for as for one without a limit of its own.
 */
int nof_ctrl_exec_user(struct nof_ctrl *ctrl, struct nof_cmd *cmd, u32 timeout_ms);

/* Below: between the files of the core, and for mpath/. */
bool nof_ctrl_set_state(struct nof_ctrl *ctrl, enum nvmeof_ctrl_state to);
/* Remembers what went wrong, and logs it. Any context. */
__printf(4, 5) void nof_ctrl_note(struct nof_ctrl *ctrl, int err, u16 status, const char *fmt, ...);
/* The connection is no good: recovery when live, else the attempt or whatever is under way ends. Any context. */
void nof_ctrl_error(struct nof_ctrl *ctrl, enum nof_cause cause);
/* Only if it is live: false when not, and nothing was done. @reset: somebody wants it, it is no loss. Any context. */
bool nof_ctrl_error_live(struct nof_ctrl *ctrl, bool reset);
/* Starts deletion in the background. Any process context. */
bool nof_ctrl_delete_start(struct nof_ctrl *ctrl);
/* Of the I/O commands of a command set; NULL: not known, so that none is harmless. Caller holds subsys->lock. */
const struct nof_effects *nof_ctrl_effects(const struct nof_ctrl *ctrl, u8 csi);
/*
 * Of one that the driver does not know: whether its log is to be read, which is once in an association, and only where
 * it can be kept. Caller holds subsys->lock.
 */
bool nof_ctrl_effects_due(struct nof_ctrl *ctrl, u8 csi, u32 association);
/*
 * Likewise: @log as received in @association, or NULL. One too many is not kept. Caller holds subsys->lock.
 */
void nof_ctrl_set_effects(struct nof_ctrl *ctrl, u8 csi, u32 association, const struct nvme_effects_log *log);
/*
 * True if a connect or scan failed before the first complete scan, so that its namespaces are unknown: any disk may get
 * a path by it.
 */
bool nof_ctrl_owes_paths(const struct nof_ctrl *ctrl);

#endif
