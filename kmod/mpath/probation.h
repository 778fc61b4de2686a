/* SPDX-License-Identifier: GPL-2.0-only */
/* What a controller has to show that was lost again and again, before it is used like others again. */
#ifndef NOF_MPATH_PROBATION_H
#define NOF_MPATH_PROBATION_H

#include <linux/types.h>

struct nof_ctrl;
struct nof_subsys;
struct request;

/* The association is lost. Under subsys->lock */
void nof_probation_lost(struct nof_ctrl *ctrl);
/* @rq is the next trial: the caller sends it to @ctrl. SRCU read side */
bool nof_probation_takes(struct nof_ctrl *ctrl, const struct request *rq);
/* A request on the controller is back. Softirq or process context */
void nof_probation_tried(struct nof_ctrl *ctrl, bool answered);
/* Ends the probation of those that have answered enough. Under subsys->lock */
void nof_probation_review(struct nof_subsys *s);

#endif
