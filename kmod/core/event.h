/* SPDX-License-Identifier: GPL-2.0-only */
/* Where the layers below tell control/ what has changed. */
#ifndef NOF_CORE_EVENT_H
#define NOF_CORE_EVENT_H

#include <uapi/linux/nvmeof.h>

struct nof_ctrl;
struct nof_head;
struct nof_path;
struct nof_subsys;

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

#endif
