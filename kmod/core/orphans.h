/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Controllers whose transport's module is unloaded: deleted with it, or kept without a transport, until the next build
 * of that module is loaded. One that is kept has no connection meanwhile, in state CONNECTING or LOST; requests wait
 * for it as for any that comes back, with the same bounds of time.
 */
#ifndef NOF_CORE_ORPHANS_H
#define NOF_CORE_ORPHANS_H

struct nof_ctrl;
struct nof_transport;

/*
 * When these return, no controller is of @t any more, and none becomes so: it is not registered. Context: process,
 * sleeps, not for the peer but for the bounded time that commands under way get to end by themselves.
 */
void nof_orphans_delete(const struct nof_transport *t);
/* Deletes none but those that were never live, and are not meant to be tried again. */
void nof_orphans_keep(const struct nof_transport *t);
/* A transport of this name was registered: those that wait for it try at once. Context: process. */
void nof_orphans_call(const char *name);
/*
 * Before a controller uses its transport in a new attempt: takes the one that is registered, where it has none. 0, or a
 * negative errno: not now. Context: process, sleeps.
 */
int nof_orphan_retake(struct nof_ctrl *ctrl);
/* The controller is deleted: it waits no longer. Context: process. */
void nof_orphan_end(struct nof_ctrl *ctrl);

#endif
