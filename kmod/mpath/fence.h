/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fencing (policy value fencing, safe or auto): a request that the target may still execute, because its association
 * was lost while the request was outstanding, is held until the lost association can no longer execute it. The hold
 * ends with a Cross-Controller Reset, the time bound, or the removal of the disk, but not with a reset of the
 * controller or a timeout of the request.
 */
#ifndef NOF_MPATH_FENCE_H
#define NOF_MPATH_FENCE_H

#include <linux/types.h>
#include <uapi/linux/nvmeof.h>

struct nof_completed;
struct nof_ctrl;
struct nof_head;
struct nof_request;
struct nof_subsys;

/* Why a hold ended; values seen in the trace event */
enum nof_fence_end {
	NOF_FENCE_HOLDS,
	NOF_FENCE_RESET,	/* another controller has ended that association: Cross-Controller Reset */
	NOF_FENCE_BOUND,	/* the time in which the target has to end it by itself has passed */
	NOF_FENCE_DROPPED,	/* its disks are removed, the requests fail */
};

/*
 * An association begins: allocates the fence, so that losing the association needs no memory. Called before its first
 * request. Process context; -ENOMEM. Idempotent.
 */
int nof_fence_arm(struct nof_ctrl *ctrl);
/*
 * The request was cancelled with the association of @ctrl and would be sent again. Returns true if the fence takes
 * ownership: it resubmits the request later with nof_request_redispatch(), or fails it, at once with @done if the disk
 * is being removed. Returns false if the request may be retried now. Any context.
 */
bool nof_fence_hold(struct nof_ctrl *ctrl, struct nof_request *req, struct nof_completed *done);
/*
 * Nothing more is sent in the association, and all its requests are cancelled. If some are held, starts the time bound
 * and tries a Cross-Controller Reset; they no longer need @ctrl. Any context but softirq.
 */
void nof_fence_start(struct nof_ctrl *ctrl);
/* The controller is freed. */
void nof_fence_disarm(struct nof_ctrl *ctrl);
/* @ctrl reports that a Cross-Controller Reset that it carried out is over. Process context, waits for a command. */
void nof_fence_notice(struct nof_ctrl *ctrl);
/* The disk is removed: its held requests fail, and from now on requests fail instead of being held. Process context. */
void nof_fence_drop(struct nof_head *head);
/* Requests of the head that are held now */
u32 nof_fence_held(const struct nof_head *head);
/**
 * struct nof_hold - a fence that holds requests
 * @of:		the controller whose association was lost
 * @resetter:	the controller that was asked to reset it, or empty
 * @left_ms:	until its bound
 */
struct nof_hold {
	char	of[NVMEOF_NAME_MAX + 1];
	char	resetter[NVMEOF_NAME_MAX + 1];
	u32	left_ms;
};

/* Describes the fence of the subsystem that ends last; false: there is none. Process context. */
bool nof_fence_last(struct nof_subsys *s, struct nof_hold *hold);
/* Module exit: waits until all fences are freed. No disk is left, so they hold no requests. Sleeps. */
void nof_fence_exit(void);

#endif
