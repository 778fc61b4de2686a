/* SPDX-License-Identifier: GPL-2.0-only */
/* Asymmetric Namespace Access (ANA): the states of groups that a controller reports (NVMe Base 2.0, 8.1). */
#ifndef NOF_MPATH_ANA_H
#define NOF_MPATH_ANA_H

#include <linux/types.h>
#include <uapi/linux/nvmeof.h>

struct nof_ctrl;
struct nof_path;

void nof_ana_init(struct nof_ctrl *ctrl);
void nof_ana_exit(struct nof_ctrl *ctrl);
/* Reads the log and applies it; 0 also when the controller has none. Process context, sleeps. */
int nof_ana_read(struct nof_ctrl *ctrl);
/* The association is lost: a change of ANA states begins anew. Under subsys->lock */
void nof_ana_restart_timers(struct nof_ctrl *ctrl);
/* State of a group as last read; NONE for a controller without ANA. Under subsys->lock. */
enum nvmeof_ana_state nof_ana_state_of(struct nof_ctrl *ctrl, u32 group);
/* Sets the state of a path, and @ana_since if it differs. Under subsys->lock; the caller publishes. */
void nof_ana_set(struct nof_path *path, enum nvmeof_ana_state state);
/* Reads the log in the background if it did not list this group of a namespace. */
void nof_ana_look_for(struct nof_ctrl *ctrl, u32 group);
/*
 * Called with the status of a failed command. After an ANA status, takes the path out of use and reads the log, in the
 * background. Returns true if that will publish new path sets, and so resubmit requests of the requeue list. Any
 * context.
 */
bool nof_ana_report_status(struct nof_path *path, u16 status);

static inline bool nof_ana_usable(enum nvmeof_ana_state state)
{
	return state <= NVMEOF_ANA_NON_OPTIMIZED;
}

#endif
