/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Operations that core/ calls and upper layers implement: mpath/, which knows disks and paths, and control/, which
 * shows objects and sends events. Nothing in core/ includes a header of theirs, or calls a function of theirs by name.
 * The tables are constant and part of the same module.
 */
#ifndef NOF_CORE_UPCALLS_H
#define NOF_CORE_UPCALLS_H

#include <linux/blkdev.h>
#include <linux/static_call.h>
#include <linux/types.h>
#include <uapi/linux/nvmeof.h>

struct attribute_group;
struct block_device;
struct class;
struct nof_cmd;
struct nof_completed;
struct nof_ctrl;
struct nof_head;
struct nof_ns;
struct nof_ns_format;
struct nof_opts;
struct nof_path;
struct nof_subsys;

/*
 * struct nof_mpath_ops - operations of mpath/ that core/ calls
 * @subsys_init: initialise the mpath part; the device is not registered yet
 * @subsys_exit: reverse of @subsys_init, after the last reference was dropped. Waits for readers of its SRCU
 * @tags_init:	allocate the tag set that all disks share, sized by the first connect; does nothing if there is one
 * @ctrl_init, @ctrl_exit: initialise and free the mpath part of a controller
 * @association_begin: allocate what the loss of the association will need. 0 or -ENOMEM. Idempotent
 * @read_ana:	read the ANA log and apply it; 0 when the controller has none
 * @association_lost: the connection is lost
 * @queues_cancelled: the association sends nothing any more, and all its requests are cancelled. Any context but
 *		softirq
 * @ccr_notice:	the controller reports that a Cross-Controller Reset requested from it is over
 * @update_expected: re-evaluate which disks should have a path through this controller
 * @paths_lost:	the controller is LOST and its paths are about to be removed: disks still expect these paths
 * @publish:	publish the path sets of all heads that have a path through the controller. Caller holds subsys->lock
 * @has_other_path: some head with a path through the controller has a usable path through another one
 * @all_have_other_path: each head with a path through the controller has one
 * @stall_reason: I/O has stalled: returns a text why the controller is at fault, or NULL if nothing shows that it is.
 *		@alone: the stall has lasted long enough to blame it even if the other paths are idle
 * @may_detach:	for nof_queue_detach(). Does not sleep
 * @detached:	a request was taken off its queue and is retried on another path. @sent: the peer may have the command
 *
 * Context: process, may sleep, no lock held, unless stated otherwise.
 */
struct nof_mpath_ops {
	void (*subsys_init)(struct nof_subsys *s);
	void (*subsys_exit)(struct nof_subsys *s);
	int (*tags_init)(struct nof_subsys *s, const struct nof_opts *opts);
	void (*ctrl_init)(struct nof_ctrl *ctrl);
	void (*ctrl_exit)(struct nof_ctrl *ctrl);
	int (*association_begin)(struct nof_ctrl *ctrl);
	int (*read_ana)(struct nof_ctrl *ctrl);
	void (*association_lost)(struct nof_ctrl *ctrl);
	void (*queues_cancelled)(struct nof_ctrl *ctrl);
	void (*ccr_notice)(struct nof_ctrl *ctrl);
	void (*update_expected)(struct nof_ctrl *ctrl);
	void (*paths_lost)(struct nof_ctrl *ctrl);
	void (*publish)(struct nof_ctrl *ctrl);
	bool (*has_other_path)(struct nof_ctrl *ctrl);
	bool (*all_have_other_path)(struct nof_ctrl *ctrl);
	const char *(*stall_reason)(struct nof_ctrl *ctrl, bool alone);
	bool (*may_detach)(const struct nof_cmd *cmd, bool sent);
	void (*detached)(struct nof_cmd *cmd, bool sent, struct nof_completed *done);
};

/* Why a namespace got no path; the texts are in mpath/path.c */
enum nof_refusal {
	NOF_ATTACHED,
	/* temporary: the scan is incomplete and is repeated soon */
	NOF_REFUSED_NO_MEMORY,
	NOF_REFUSED_NO_DISK,
	NOF_REFUSED_BUSY,
	NOF_REFUSED_TOO_NARROW,
	/* may change with the other paths: the scan is complete, but is repeated */
	NOF_REFUSED_SIZE,
	NOF_REFUSED_PI,
	/* permanent until the target or the set of disks changes */
	NOF_REFUSED_ZONE_SIZE,
	NOF_REFUSED_ZONE_COUNT,
	NOF_REFUSED_ZONES,
	NOF_REFUSED_IDS,
	NOF_REFUSED_PRIVATE,
	NOF_REFUSED_NSID,
	NOF_REFUSED_DUPLICATE,
	NOF_REFUSED_TOO_MANY,
	NOF_REFUSED_LIMITS,
	NOF_REFUSED_CREATE,
	NOF_NR_REFUSALS
};

/*
 * struct nof_paths_ops - operations of mpath/ on the paths of a controller, for namespace scans and removal
 * @max_heads:	maximum number of disks per subsystem
 * @head_allowed: a disk has this namespace ID, or one more disk is allowed
 * @attach:	create a path for the namespace and join it to its head, or update the existing path.
 *		@association: in which @format was read. @text: receives the reason of a refusal, for messages
 * @keep:	the namespace could not be identified: keep its path, if any. Returns false if there is none
 * @next_nsids:	fill in the first @max NSIDs above @prev that have a path, in ascending order. Returns their number
 * @confirm:	the namespace exists in the new association: use its path if it is still the same namespace
 * @scan_begin:	mark all paths as not seen
 * @remove_unseen: remove the paths that the scan has not seen
 * @remove:	remove all paths. @graceful: the queues work, so that disks can write back
 * @drop_held:	fail the requests that fencing holds for disks being removed. Without scan.lock
 * @event:	send an event for each path. Without scan.lock
 *
 * Context: process, may sleep; caller holds scan.lock unless stated otherwise.
 */
struct nof_paths_ops {
	u32 (*max_heads)(void);
	bool (*head_allowed)(struct nof_subsys *s, u32 nsid);
	enum nof_refusal (*attach)(struct nof_ctrl *ctrl, u32 nsid, const struct nof_ns_format *format,
				   u32 association, const char **text);
	bool (*keep)(struct nof_ctrl *ctrl, u32 nsid);
	u32 (*next_nsids)(struct nof_ctrl *ctrl, u32 prev, struct nof_ns *ns, u32 max);
	void (*confirm)(struct nof_ctrl *ctrl, u32 nsid, const struct nof_ns_format *format, u32 association);
	void (*scan_begin)(struct nof_ctrl *ctrl);
	void (*remove_unseen)(struct nof_ctrl *ctrl);
	void (*remove)(struct nof_ctrl *ctrl, bool graceful);
	void (*drop_held)(struct nof_ctrl *ctrl);
	void (*event)(struct nof_ctrl *ctrl, enum nvmeof_event event);
};

/*
 * struct nof_control_ops - operations of control/ that core/ and mpath/ call
 * @subsys_class: for subsys->dev.class
 * @head_groups, @path_groups: sysfs attributes of a disk and of a path
 * @ctrl_add:	make a controller visible: device, sysfs attributes and /dev node, in one step
 * @ctrl_del:	reverse of @ctrl_add
 * @ctrl_release: free the number of the /dev node after the last reference was dropped, even if never visible
 * @head_add:	create /dev/ngnvmeof0n1, before the disk is added. 0 or a negative errno
 * @head_del:	reverse of @head_add; before the disk is removed
 * @head_ioctl:	ioctl of the disk
 *
 * Context: process, may sleep.
 */
struct nof_control_ops {
	nof_class_const struct class	*subsys_class;
	const struct attribute_group	**head_groups;
	const struct attribute_group	**path_groups;
	int	(*ctrl_add)(struct nof_ctrl *ctrl);
	void	(*ctrl_del)(struct nof_ctrl *ctrl);
	void	(*ctrl_release)(struct nof_ctrl *ctrl);
	int	(*head_add)(struct nof_head *head);
	void	(*head_del)(struct nof_head *head);
	int	(*head_ioctl)(struct block_device *bdev, blk_mode_t mode, unsigned int cmd, unsigned long arg);
};

extern const struct nof_mpath_ops nof_mpath;
extern const struct nof_paths_ops nof_paths;
extern const struct nof_control_ops nof_control;

/*
 * struct nof_event_ops - notify control/ of changes; set once, by module.c, before the first object can exist
 * @scanned: a scan has ended; @err: negative errno, or 0
 * @failover: requests failed over and are complete. @from: name of the path they left, which may be gone; @ios: number
 *	      of requests; @ns: longest time from the submission there to the completion on another path
 *
 * Context: process, may sleep. The caller holds a reference to the object, but not subsys->lock, which recovery needs.
 */
struct nof_event_ops {
	void (*subsys)(struct nof_subsys *s, enum nvmeof_event ev);
	void (*ctrl)(struct nof_ctrl *c, enum nvmeof_event ev, enum nvmeof_ctrl_state old);
	void (*scanned)(struct nof_ctrl *c, int err);
	void (*ns)(struct nof_head *h, enum nvmeof_event ev);
	void (*path)(struct nof_path *p, enum nvmeof_event ev);
	void (*failover)(struct nof_head *h, const char *from, u32 ios, u64 ns);
	void (*aen)(struct nof_ctrl *c, u8 type, u8 info, u8 log_page);
};

extern const struct nof_event_ops *nof_events;

/*
 * Fast-path calls: static calls, which mpath/ sets before the first controller is created.
 *
 * nof_request_done: the command of a request has completed; as nof_cmd_complete().
 */
typedef void nof_request_done_fn(struct nof_cmd *cmd, struct nof_completed *done);
DECLARE_STATIC_CALL(nof_request_done, nof_request_done_fn);
/* nof_requests_end: end the requests and bios that cannot end as a batch. Context: as nof_completed_end(). */
typedef void nof_requests_end_fn(struct nof_completed *done);
DECLARE_STATIC_CALL(nof_requests_end, nof_requests_end_fn);

#endif
