/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What core/ asks of the layers above: mpath/, which knows disks and paths, and control/, which shows things. Nothing
 * in core/ includes a header of theirs. The tables are constant and part of the same module; what is on the way of each
 * request is called directly.
 */
#ifndef NOF_CORE_ABOVE_H
#define NOF_CORE_ABOVE_H

#include <linux/types.h>
#include <uapi/linux/nvmeof.h>

struct class;
struct nof_cmd;
struct nof_completed;
struct nof_ctrl;
struct nof_ns;
struct nof_ns_format;
struct nof_opts;
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

/* What is shown: @subsys_class is for subsys->dev.class, the others are of control/control.h */
struct nof_control_ops {
	nof_class_const struct class	*subsys_class;
	int				(*ctrl_add)(struct nof_ctrl *ctrl);
	void				(*ctrl_del)(struct nof_ctrl *ctrl);
	void				(*ctrl_release)(struct nof_ctrl *ctrl);
};

extern const struct nof_mpath_ops nof_mpath;
extern const struct nof_paths_ops nof_paths;
extern const struct nof_control_ops nof_control;

/* A request is back: as nof_cmd_complete() */
void nof_head_complete(struct nof_cmd *cmd, struct nof_completed *done);
/* Ends the requests and bios that have to end one by one; context: as nof_completed_end() */
void nof_head_end(struct nof_completed *done);
/* It was taken off its queue (@sent: not before it went out), and goes again by another path. Process context. */
void nof_head_detached(struct nof_cmd *cmd, bool sent, struct nof_completed *done);

#endif
