/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of the core use of one another to bring a controller up and down. */
#ifndef NOF_CORE_LIFECYCLE_H
#define NOF_CORE_LIFECYCLE_H

#include "core/ctrl.h"
#include "wire/identify.h"

/* admin.c */
int nof_admin_init(struct nof_ctrl *ctrl);
/* The driver's own commands are outstanding, or wait for a slot, and for that long none has been answered. */
bool nof_admin_stuck(const struct nof_ctrl *ctrl, u32 ms);
/*
 * Sends without waiting; cmd->done is set. -EBUSY without a free slot, -ENOTCONN without a live queue. Does not wait.
 */
int nof_admin_submit(struct nof_ctrl *ctrl, struct nof_cmd *cmd);
int nof_identify(struct nof_ctrl *ctrl, u8 cns, u32 nsid, void *buf);
/* One of many. @buf: NVME_IDENTIFY_DATA_SIZE bytes; @ret: as nof_identify() */
struct nof_identify {
	u32	nsid;
	u8	cns;
	u8	csi;
	void	*buf;
	int	ret;
};

/* Likewise, as many at a time as there are slots. 0, or the negative errno of the first that did not come back. */
int nof_identify_many(struct nof_ctrl *ctrl, struct nof_identify *list, u32 nr);
int nof_get_log(struct nof_ctrl *ctrl, u8 lid, u8 lsp, u64 offset, void *buf, u32 len);
/* @csi: of which command set, beside those of admin commands */
int nof_get_effects(struct nof_ctrl *ctrl, u8 csi, struct nvme_effects_log *log);
int nof_set_features(struct nof_ctrl *ctrl, u8 fid, u32 dword11, u32 *result);
int nof_get_features(struct nof_ctrl *ctrl, u8 fid, u32 *result);
/*
 * Tells the controller what this host can do: heed Command Retry Delay Times (ACRE), and use extended formats (LBAFEE),
 * which have guards of more than 16 bits. Without, the controller uses neither. A negative errno when that did not come
 * back.
 */
int nof_tell_host_behavior(struct nof_ctrl *ctrl);
/* Commands of userspace are outstanding on the admin queue, or are about to be sent */
bool nof_admin_has_user(struct nof_ctrl *ctrl);
/* As nof_admin_submit(), in a slot of the driver that cmd->done gives back, first of all, by nof_admin_leave(). */
int nof_admin_send(struct nof_ctrl *ctrl, struct nof_cmd *cmd);
void nof_send_abort(struct nof_ctrl *ctrl, u16 sqid, u16 cid);

int nof_fabrics_connect(struct nof_queue *queue);
int nof_property_get(struct nof_ctrl *ctrl, u32 offset, bool wide, u64 *value);
/* @sent: the controller may have the command, if its connection was lost (-ECONNRESET); may be NULL */
int nof_property_set(struct nof_ctrl *ctrl, u32 offset, u32 value, bool *sent);
int nof_ctrl_enable(struct nof_ctrl *ctrl);
void nof_ctrl_shutdown(struct nof_ctrl *ctrl);

/* queues.c */
int nof_queues_start_admin(struct nof_ctrl *ctrl, unsigned long deadline);
int nof_queues_start_io(struct nof_ctrl *ctrl, unsigned long deadline);
int nof_queues_map(struct nof_ctrl *ctrl);
void nof_queues_kill(struct nof_ctrl *ctrl);
void nof_queues_free(struct nof_ctrl *ctrl);
u32 nof_queues_inflight(struct nof_ctrl *ctrl, bool io_only);
/* Commands that were taken off the queues and are not answered yet */
u32 nof_queues_detached(struct nof_ctrl *ctrl);
struct nof_transport_info;
/* Zeroed by the caller */
void nof_queues_info(struct nof_ctrl *ctrl, struct nof_transport_info *info);
/* How long the oldest of these is not answered */
u32 nof_queues_detached_ms(struct nof_ctrl *ctrl);
/* Commands outstanding on the I/O queues for which @is returns true; see struct nof_slot for what it may read */
u32 nof_queues_count(struct nof_ctrl *ctrl, bool (*is)(const struct nof_slot *slot));
/* For nof_queues_count(): a command that may change data, by its opcode; those that are not known count as well */
bool nof_slot_writes(const struct nof_slot *slot);
/* Who looks whether anything completes; each has its own mark */
enum nof_watcher { NOF_WATCH_KEEP_ALIVE, NOF_WATCH_LEAVE, NOF_WATCH_SILENCE };
/* True if anything completed on some queue since the watcher's last call */
bool nof_queues_were_busy(struct nof_ctrl *ctrl, enum nof_watcher who);
/*
 * The I/O queues, which stay until nof_queues_put(), though they may be taken down; NULL: there are none, or not yet.
 * For what may take longer than queues_lock can be held. Recovery waits for it: moments. Context: process
 */
struct nof_queue **nof_queues_get(struct nof_ctrl *ctrl, u32 *nr);
void nof_queues_put(struct nof_ctrl *ctrl);
/* Sends and polls what nobody else does any more, because the path that it was sent on has left its set */
void nof_queues_flush(struct nof_ctrl *ctrl);

/* connect.c */
void nof_connect_init(struct nof_ctrl *ctrl);

/* recovery.c */
void nof_recovery_init(struct nof_ctrl *ctrl);
/* No timer, no flag: I/O waits for the controller again. Context: may sleep */
void nof_fail_fast_stop(struct nof_ctrl *ctrl);
void nof_reconnect_later(struct nof_ctrl *ctrl);
/* ms until ctrl_loss_tmo has passed, at most; negative: it has a connection, or waits for ever */
s64 nof_ctrl_loss_left_ms(const struct nof_ctrl *ctrl);

/* watch.c */
int nof_ka_init(struct nof_ctrl *ctrl);
/*
 * Which timeout is in effect: asks for a shorter one than the default where nobody has asked for any, and reads back
 * what the controller has made of it. Context: process, waits for commands. A negative errno when these did not come
 * back.
 */
int nof_ka_agree(struct nof_ctrl *ctrl);
/* The controller is about to be told timeout @ms: if longer, it counts from now on. Returns the previous timeout. */
u32 nof_ka_expect(struct nof_ctrl *ctrl, u32 ms);
/* It has refused: the one of before counts again. */
void nof_ka_refused(struct nof_ctrl *ctrl, u32 ms, u32 before);
/* It has been told, and may have agreed; @off: to none. */
void nof_ka_changed(struct nof_ctrl *ctrl, bool off);
void nof_ka_start(struct nof_ctrl *ctrl);
void nof_ka_stop(struct nof_ctrl *ctrl);
/* The keep-alive timeout as the controller counts it: in its own steps, rounded up (KAS). 0 for none */
u32 nof_ka_timeout_ms(const struct nof_ctrl *ctrl);

/* aer.c */
#define NOF_AEN_CFG_CCR	BIT(20)	/* TP8028: offered, and asked for: a notice when a Cross-Controller Reset is over */
int nof_aer_init(struct nof_ctrl *ctrl);
int nof_aer_configure(struct nof_ctrl *ctrl);
void nof_aer_start(struct nof_ctrl *ctrl);
void nof_aer_stop(struct nof_ctrl *ctrl);
/* With NOF_CTRL_PAUSED: until the firmware has to be active */
u32 nof_aer_pause_left_ms(const struct nof_ctrl *ctrl);
/* None of it runs when this returns. Not LIVE any more. Process context, sleeps. */
void nof_aer_end(struct nof_ctrl *ctrl);

/* scan.c */
/*
 * What was read of a namespace. @why: it is refused, for a person; @status: of the command that was, 0 for none;
 * @not_now: of no meaning for the namespace, to be asked again; @why may say why
 */
struct nof_ns {
	u32			nsid;
	u16			status;
	bool			not_now;
	const char		*why;
	struct nof_ns_format	format;
};

void nof_scan_init(struct nof_ctrl *ctrl);
/*
 * Before a controller becomes live again: which of the namespaces that it had are still the same. Only those get I/O
 * before a scan has seen them. 0, or a negative errno: it did not answer.
 */
int nof_scan_confirm(struct nof_ctrl *ctrl);

/* transport.c */
/*
 * Before a controller uses its transport in a new attempt: takes the one that is registered, where it has none. 0, or a
 * negative errno: not now. Context: process, sleeps.
 */
int nof_orphan_retake(struct nof_ctrl *ctrl);

/* ctrl.c */
void nof_ctrl_event(struct nof_ctrl *ctrl, enum nvmeof_event ev, enum nvmeof_ctrl_state old);
/* The path sets of all heads this controller has a path to, after its state changed */
void nof_ctrl_publish(struct nof_ctrl *ctrl);

/*
 * With ctrl->transport set to one that is registered, and a reference on its module: 0, or as ctrl_init() of it. Under
 * subsys->lock where others can find the controller, and so is the next.
 */
int nof_ctrl_take_transport(struct nof_ctrl *ctrl, struct netlink_ext_ack *extack);
/* All that belongs to the transport's module; it has no queues */
void nof_ctrl_drop_transport(struct nof_ctrl *ctrl);
/* The end of the controller, or it could not be made */
void nof_ctrl_detach_transport(struct nof_ctrl *ctrl);
void nof_ctrl_delist(struct nof_ctrl *ctrl);
/* If it is CONNECTING, or LOST: the next attempt now, or as soon as one that is under way has failed. Any context. */
void nof_reconnect_now(struct nof_ctrl *ctrl);
/* From the loss on: when fast_io_fail_tmo will have passed. Any context */
void nof_fail_fast_start(struct nof_ctrl *ctrl);
/* Jiffies that are left of a bound of @tmo_ms, counted from the loss of the connection */
unsigned long nof_ctrl_left_of(const struct nof_ctrl *ctrl, s32 tmo_ms);
/* However many events a target sends, its namespaces are looked through no more often */
#define NOF_SCAN_SPACING_MS	100
/* In the background, at once; one that fails is repeated. Any context. */
void nof_scan_start(struct nof_ctrl *ctrl);
/* It waits for the module of its transport */
bool nof_ctrl_is_orphan(const struct nof_ctrl *ctrl);
/* duplicate_connect without a Keep Alive: connected to read one discovery log, and deleted after that */
bool nof_ctrl_transient(const struct nof_ctrl *ctrl);

#endif
