/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What core/ asks of the layers above: mpath/, which knows disks and paths, and control/, which shows things. Nothing
 * in core/ includes a header of theirs, or calls a function of theirs by name. The tables are constant and part of the
 * same module.
 */
#ifndef NOF_CORE_ABOVE_H
#define NOF_CORE_ABOVE_H

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
 * Of objects. Context: process, sleeps, no lock held, where nothing else is said.
 *
 * @subsys_init: with all that is mpath's in it; it has not been shown yet
 * @subsys_exit: nobody else has it; until the last reader of its SRCU has gone
 * @tags_init:	its tag set, by what the first connect asks for, if there is none yet
 * @ctrl_init, @ctrl_exit: the controller is made, is freed
 * @begin:	an association begins: what losing it will need. -ENOMEM. Idempotent
 * @read_ana:	reads the ANA log and applies it; 0 when the controller has none
 * @lost:	the connection is lost
 * @killed:	nothing more is sent in the association, and all its requests are cancelled. Any context but softirq
 * @reset_told:	it tells that a Cross-Controller Reset it was asked for is over
 * @expected:	its state says something else of what is expected of it
 * @paths_lost:	it is LOST, and its paths are about to go: disks still expect them
 * @publish:	the path sets of all heads that it has a path to, after its state changed. Under subsys->lock
 * @elsewhere:	some head of it has a usable path by another one
 * @all_elsewhere: each head of it has
 * @stalls:	nothing completes there: why that is its own fault, for a person, or NULL. @alone: for so long that it
 *		counts even if the others are idle
 * @may_leave:	for nof_queue_detach()
 * @detached:	a request was taken off its queue (@sent: not before it went out), and goes again by another path
 */
struct nof_mpath_ops {
	void (*subsys_init)(struct nof_subsys *s);
	void (*subsys_exit)(struct nof_subsys *s);
	int (*tags_init)(struct nof_subsys *s, const struct nof_opts *opts);
	void (*ctrl_init)(struct nof_ctrl *ctrl);
	void (*ctrl_exit)(struct nof_ctrl *ctrl);
	int (*begin)(struct nof_ctrl *ctrl);
	int (*read_ana)(struct nof_ctrl *ctrl);
	void (*lost)(struct nof_ctrl *ctrl);
	void (*killed)(struct nof_ctrl *ctrl);
	void (*reset_told)(struct nof_ctrl *ctrl);
	void (*expected)(struct nof_ctrl *ctrl);
	void (*paths_lost)(struct nof_ctrl *ctrl);
	void (*publish)(struct nof_ctrl *ctrl);
	bool (*elsewhere)(struct nof_ctrl *ctrl);
	bool (*all_elsewhere)(struct nof_ctrl *ctrl);
	const char *(*stalls)(struct nof_ctrl *ctrl, bool alone);
	bool (*may_leave)(const struct nof_cmd *cmd, bool sent);
	void (*detached)(struct nof_cmd *cmd, bool sent, struct nof_completed *done);
};

/* Why a namespace has not become a path, and whether to try again; see mpath/path.h */
enum nof_refusal { NOF_REFUSED, NOF_REFUSED_AGAIN, NOF_REFUSED_LATER, NOF_REFUSED_NO_MEMORY };

/*
 * Of namespaces, under scan_lock. Context: process, sleeps.
 *
 * @most:	disks that a subsystem has at most
 * @wanted:	one more has room, or has it already
 * @attach:	joins the namespace to its head as a path, or takes note of what changed; NULL, or why it is refused.
 *		@association: that @format was read in
 * @refusal:	of what attach() returned: what follows
 * @keep:	the path stays as it is, if there is one
 * @above:	paths of higher NSIDs than @prev: the first @max of these, in their order. Returns how many there are
 * @confirm:	it is there in the association that begins: the path may be used if it is still the same namespace
 * @unsee, @remove_unseen: before a scan, and what that has not seen
 * @remove:	all. @graceful: the queues work, so that disks can write back
 * @unhold:	nothing is held back any more for disks that are being removed. Without scan_lock
 * @event:	tells of each path. Without scan_lock
 */
struct nof_paths_ops {
	u32 (*most)(void);
	bool (*wanted)(struct nof_subsys *s, u32 nsid);
	const char *(*attach)(struct nof_ctrl *ctrl, u32 nsid, const struct nof_ns_format *format, u32 association);
	enum nof_refusal (*refusal)(const char *why);
	bool (*keep)(struct nof_ctrl *ctrl, u32 nsid);
	u32 (*above)(struct nof_ctrl *ctrl, u32 prev, struct nof_ns *ns, u32 max);
	void (*confirm)(struct nof_ctrl *ctrl, u32 nsid, const struct nof_ns_format *format, u32 association);
	void (*unsee)(struct nof_ctrl *ctrl);
	void (*remove_unseen)(struct nof_ctrl *ctrl);
	void (*remove)(struct nof_ctrl *ctrl, bool graceful);
	void (*unhold)(struct nof_ctrl *ctrl);
	void (*event)(struct nof_ctrl *ctrl, enum nvmeof_event event);
};

/*
 * What is shown, to core/ and to mpath/. Context: process, sleeps.
 *
 * @subsys_class: for subsys->dev.class
 * @head_groups, @path_groups: attributes of a disk, and of a path
 * @ctrl_add:	makes a controller visible: its device, sysfs attributes and /dev node, in one step
 * @ctrl_del:	the mirror
 * @ctrl_release: the last reference has gone: so does the number of its node. Also of one that was never visible
 * @head_add:	/dev/ngnvmeof0n1: comes before the disk and goes before it. 0, or a negative errno
 * @head_del:	the mirror
 * @head_ioctl:	of the disk
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
 * Set once by control/ before the first object can exist. Context of each: process, may sleep; the caller holds a
 * reference on the object, and not subsys->lock, which recovery needs.
 *
 * @scanned: a scan has ended; @err: negative errno, or 0
 * @failover: requests left a path and are done elsewhere. @from: its name, as the path itself may be gone; @ios: how
 *	      many; @ns: the longest time from being sent there to being done elsewhere
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
 * On the way of each request, so that they are patched in as direct calls, by mpath, before the first controller is
 * made. A request is back: as nof_cmd_complete().
 */
typedef void nof_request_done_fn(struct nof_cmd *cmd, struct nof_completed *done);
DECLARE_STATIC_CALL(nof_request_done, nof_request_done_fn);
/* Ends the requests and bios that have to end one by one; context: as nof_completed_end() */
typedef void nof_requests_end_fn(struct nof_completed *done);
DECLARE_STATIC_CALL(nof_requests_end, nof_requests_end_fn);

#endif
