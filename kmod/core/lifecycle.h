/* SPDX-License-Identifier: GPL-2.0-only */
/* Internal interface of the core files: bringing a controller up and down. */
#ifndef NOF_CORE_LIFECYCLE_H
#define NOF_CORE_LIFECYCLE_H

#include <linux/jiffies.h>
#include "core/ctrl.h"
#include "wire/identify.h"

/* Time left until @deadline (jiffies), for a command: 1 ms at least, as 0 stands for the default */
static inline u32 nof_ms_until(unsigned long deadline)
{
	long left = (long)(deadline - jiffies);

	return left > 0 ? jiffies_to_msecs(left) : 1;
}

/* admin.c */
int nof_admin_init(struct nof_ctrl *ctrl);
/* True if the driver's own commands are outstanding or wait for a slot, and none has completed for @ms. */
bool nof_admin_stuck(const struct nof_ctrl *ctrl, u32 ms);
/*
 * Sends a command of the driver, with sqe, buf, len and write set, and waits for it. When @timeout_ms (0: the default)
 * passes, recovery is started and the command fails. Returns 0, a positive NVMe status, or a negative errno if the
 * command did not complete: -ENOTCONN without a connected admin queue. Context: process, sleeps.
 */
int nof_admin_exec(struct nof_ctrl *ctrl, struct nof_cmd *cmd, u32 timeout_ms);
/* The same, but -ECONNRESET, without sending it, if ctrl->connection is not @connection any more */
int nof_admin_exec_in(struct nof_ctrl *ctrl, u32 connection, struct nof_cmd *cmd, u32 timeout_ms);
/*
 * Submits without waiting; cmd->done must be set. -ENOTCONN without a live queue; -EBUSY without a free slot, -EAGAIN
 * or -ENOMEM without resources of the transport.
 */
int nof_admin_submit(struct nof_ctrl *ctrl, struct nof_cmd *cmd);
int nof_identify(struct nof_ctrl *ctrl, u8 cns, u32 nsid, void *buf);
/* For users without privileges, who have few slots of the queue; -EINTR if the task was killed while it waited */
int nof_identify_unprivileged(struct nof_ctrl *ctrl, u8 cns, u32 nsid, void *buf);
/* One command of nof_identify_many(). @buf: NVME_IDENTIFY_DATA_SIZE bytes; @ret: result, as of nof_identify() */
struct nof_identify {
	u32	nsid;
	u8	cns;
	u8	csi;
	void	*buf;
	int	ret;
};

/*
 * Sends @nr commands, in parallel as far as there are free slots. Returns 0, or the negative errno of the first one
 * that ended without a status.
 */
int nof_identify_many(struct nof_ctrl *ctrl, struct nof_identify *list, u32 nr);
int nof_get_log(struct nof_ctrl *ctrl, u8 lid, u8 lsp, u64 offset, void *buf, u32 len);
/* @csi: the command set whose I/O commands the log describes; admin commands are always included */
int nof_get_effects(struct nof_ctrl *ctrl, u8 csi, struct nvme_effects_log *log);
int nof_set_features(struct nof_ctrl *ctrl, u8 fid, u32 dword11, u32 *result);
int nof_get_features(struct nof_ctrl *ctrl, u8 fid, u32 *result);
/*
 * Sets the Host Behavior Support feature: this host honours Command Retry Delay Times (ACRE) and can use extended LBA
 * formats (LBAFEE), whose guards have more than 16 bits. Otherwise the controller uses neither. Returns 0, also if the
 * controller refuses, or a negative errno.
 */
int nof_set_host_behavior(struct nof_ctrl *ctrl);
/* True if privileged userspace has commands outstanding on the admin queue, or is about to send some */
bool nof_admin_has_user(struct nof_ctrl *ctrl);
/* As nof_admin_submit(), but takes a driver slot. cmd->done must first return it with nof_admin_leave(). */
int nof_admin_send(struct nof_ctrl *ctrl, struct nof_cmd *cmd);
void nof_send_abort(struct nof_ctrl *ctrl, u16 sqid, u16 cid);

/* fabrics.c */
int nof_fabrics_connect(struct nof_queue *queue);
int nof_property_get(struct nof_ctrl *ctrl, u32 offset, bool wide, u64 *value);
/* @sent: after -ECONNRESET, true if the controller may have received the command; may be NULL */
int nof_property_set(struct nof_ctrl *ctrl, u32 offset, u32 value, bool *sent);
int nof_ctrl_enable(struct nof_ctrl *ctrl);
void nof_ctrl_shutdown(struct nof_ctrl *ctrl);

/* queues.c */
int nof_queues_start_admin(struct nof_ctrl *ctrl, unsigned long deadline);
int nof_queues_start_io(struct nof_ctrl *ctrl, unsigned long deadline);
int nof_queues_map(struct nof_ctrl *ctrl);
void nof_queues_cancel(struct nof_ctrl *ctrl);
void nof_queues_free(struct nof_ctrl *ctrl);
u32 nof_queues_inflight(struct nof_ctrl *ctrl, bool io_only);
/* Commands that were detached from the queues and have no response yet */
u32 nof_queues_detached(struct nof_ctrl *ctrl);
struct nof_transport_info;
/* Adds the values of all queues to @info, which the caller zeroes. */
void nof_queues_info(struct nof_ctrl *ctrl, struct nof_transport_info *info);
/* Time since the oldest command without a response was detached, in ms; 0: none */
u32 nof_queues_detached_ms(struct nof_ctrl *ctrl);
/* Commands outstanding on the I/O queues for which @is is true; see struct nof_slot for what it may read */
u32 nof_queues_count(struct nof_ctrl *ctrl, bool (*is)(const struct nof_slot *slot));
/* For nof_queues_count(): true for an opcode that may change data, or is unknown */
bool nof_slot_writes(const struct nof_slot *slot);
/* Users of nof_queues_progressed(): each has its own bit in queue->progress */
enum nof_watcher { NOF_WATCH_KEEP_ALIVE, NOF_WATCH_DELETE, NOF_WATCH_SILENCE };
/* True if anything completed on some queue since the watcher's last call */
bool nof_queues_progressed(struct nof_ctrl *ctrl, enum nof_watcher who);
/*
 * Returns the I/O queues, which are not freed before nof_queues_put(), though they may be taken down; NULL if there are
 * none, or not yet. For work too long for queues.lock; still short, as recovery waits for it. Context: process
 */
struct nof_queue **nof_queues_get(struct nof_ctrl *ctrl, u32 *nr);
void nof_queues_put(struct nof_ctrl *ctrl);
/* Commits and polls all queues: no other task does so for commands on a path that has left its path set. */
void nof_queues_flush(struct nof_ctrl *ctrl);

/* connect.c */
void nof_connect_init(struct nof_ctrl *ctrl);

/* recovery.c */
void nof_recovery_init(struct nof_ctrl *ctrl);
/* Cancels the timer and clears NOF_CTRL_FAIL_FAST: I/O waits for the controller again. Context: may sleep */
void nof_fail_fast_stop(struct nof_ctrl *ctrl);
void nof_reconnect_later(struct nof_ctrl *ctrl);
/* Time left of ctrl_loss_tmo, in ms; negative: no such loss in progress, LOST already, or no limit */
s64 nof_ctrl_loss_left_ms(const struct nof_ctrl *ctrl);

/* keepalive.c */
int nof_ka_init(struct nof_ctrl *ctrl);
/*
 * Negotiates the timeout: requests a shorter one than the default if the user set none, and reads back the value in
 * effect. Returns 0, or a negative errno if a command ended without a status. Context: process, waits for commands.
 */
int nof_ka_negotiate(struct nof_ctrl *ctrl);
/* Set Features with timeout @ms is about to be sent: if longer, it applies at once. Returns the previous timeout. */
u32 nof_ka_change_begin(struct nof_ctrl *ctrl, u32 ms);
/* The controller refused it: the timeout @before applies again. */
void nof_ka_change_failed(struct nof_ctrl *ctrl, u32 ms, u32 before);
/* The command was sent and may have succeeded; @off: keep-alive is now disabled. */
void nof_ka_change_done(struct nof_ctrl *ctrl, bool off);
/* Sends a Keep Alive now. Returns 0, also if one is outstanding, or as nof_admin_submit(). Does not sleep. */
int nof_ka_send(struct nof_ctrl *ctrl);
void nof_ka_start(struct nof_ctrl *ctrl);
void nof_ka_stop(struct nof_ctrl *ctrl);
/* Keep-alive timeout at the controller, in ms: rounded up to its granularity (KAS). 0: none */
u32 nof_ka_timeout_ms(const struct nof_ctrl *ctrl);

/* aer.c */
#define NOF_AEN_CFG_CCR	BIT(20)	/* TP8028, in OAES and AEN configuration: notice of Cross-Controller Reset completion */
int nof_aer_init(struct nof_ctrl *ctrl);
int nof_aer_configure(struct nof_ctrl *ctrl);
void nof_aer_start(struct nof_ctrl *ctrl);
void nof_aer_stop(struct nof_ctrl *ctrl);
/* With NOF_CTRL_PAUSED: time left for the firmware activation, in ms */
u32 nof_aer_pause_left_ms(const struct nof_ctrl *ctrl);
/*
 * Cancels all works and waits for them; also waits for a firmware activation, up to a minute, if a disk has no other
 * path. The state must have left LIVE. Context: process, sleeps.
 */
void nof_aer_end(struct nof_ctrl *ctrl);

/* scan.c */
/*
 * Result of identifying a namespace. @why: reason of a refusal, for messages; @status: NVMe status of the command that
 * failed, or 0; @temporary: a temporary failure, to be retried, for which @why may give the reason
 */
struct nof_ns {
	u32			nsid;
	u16			status;
	bool			temporary;
	const char		*why;
	struct nof_ns_format	format;
};

void nof_scan_init(struct nof_ctrl *ctrl);
/*
 * Before a controller becomes live again: finds which namespaces with a path are still the same. Only these get I/O
 * before the next scan. Returns 0, or a negative errno if the controller did not respond.
 */
int nof_scan_confirm(struct nof_ctrl *ctrl);

/* transport.c */
/*
 * Before a connect attempt: an orphan takes the transport that is registered now, if there is one. Returns 0, or a
 * negative errno if the attempt must fail. Context: process, sleeps.
 */
int nof_ctrl_reattach_transport(struct nof_ctrl *ctrl);

/* ctrl.c */
void nof_ctrl_event(struct nof_ctrl *ctrl, enum nvmeof_event ev, enum nvmeof_ctrl_state old);
/* Publishes the path sets of all heads with a path through this controller. Takes subsys->lock. */
void nof_ctrl_publish(struct nof_ctrl *ctrl);

/*
 * Initialises the transport's part of the controller; ctrl->transport is registered, and the caller holds a reference
 * to its module. 0 or a negative errno. Callers of this and the next function hold subsys->lock if @ctrl is listed.
 */
int nof_ctrl_take_transport(struct nof_ctrl *ctrl, struct netlink_ext_ack *extack);
/* Frees the transport's part of the controller, which must have no queues. */
void nof_ctrl_drop_transport(struct nof_ctrl *ctrl);
/* Releases the transport and the network namespace, at the end of a deletion or of a failed creation. */
void nof_ctrl_detach_transport(struct nof_ctrl *ctrl);
void nof_ctrl_delist(struct nof_ctrl *ctrl);
/* In CONNECTING or LOST: starts the next attempt now, or as soon as the current one has failed. Any context. */
void nof_reconnect_now(struct nof_ctrl *ctrl);
/* Starts the fast_io_fail_tmo timer, which counts from the loss of the connection. Any context */
void nof_fail_fast_start(struct nof_ctrl *ctrl);
/* Jiffies left of @tmo_ms, counted from the loss of the connection */
unsigned long nof_ctrl_left_of(const struct nof_ctrl *ctrl, s32 tmo_ms);
/* Minimum interval between scans, however many events a target sends */
#define NOF_SCAN_SPACING_MS	100
/* Queues a scan, subject to NOF_SCAN_SPACING_MS. A scan that fails is repeated. Any context. */
void nof_scan_start(struct nof_ctrl *ctrl);
/* True if the controller waits for the module of its transport */
bool nof_ctrl_is_orphan(const struct nof_ctrl *ctrl);
/* duplicate_connect without keep-alive: connected only to read one discovery log */
bool nof_ctrl_transient(const struct nof_ctrl *ctrl);

#endif
