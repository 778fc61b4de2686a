/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fencing (policy value fencing, safe or auto): a request that the target may still execute, because its association
 * was lost while the request was outstanding, is held until the lost association can no longer execute it. Neither a
 * reset nor a timeout of the request ends that, only the bound or the removal of the disk.
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

/* Why what was held goes on; values seen in the trace event */
enum nof_fence_end {
	NOF_FENCE_HOLDS,
	NOF_FENCE_RESET,	/* another controller has ended that association: Cross-Controller Reset */
	NOF_FENCE_BOUND,	/* the time has passed in which the target has to end it by itself */
	NOF_FENCE_DROPPED,	/* its disks are removed, nothing goes on */
};

/*
 * An association begins: memory for holding what may be lost with it, so that losing it needs none. Before its first
 * request. Process context; -ENOMEM. Idempotent.
 */
int nof_fence_arm(struct nof_ctrl *ctrl);
/*
 * The request was cancelled with the association of @ctrl and would be sent again. True when it is held: the fence is
 * its owner until it has ended it, with @done perhaps, or had it sent again with nof_request_again(). False when it may
 * go on at once. Any context.
 */
bool nof_fence_hold(struct nof_ctrl *ctrl, struct nof_request *req, struct nof_completed *done);
/*
 * Nothing more is sent in the association, and all its requests are cancelled: the time bound begins, and
 * Cross-Controller Reset is tried. What is held no longer needs @ctrl. Any context but softirq. Without held requests,
 * nothing happens.
 */
void nof_fence_lost(struct nof_ctrl *ctrl);
/* The controller is freed. */
void nof_fence_disarm(struct nof_ctrl *ctrl);
/* @ctrl tells that a Cross-Controller Reset it was asked for is over. Process context, waits for a command. */
void nof_fence_notice(struct nof_ctrl *ctrl);
/* The disk goes: what is held of it, or would be from now on, ends with an error. Process context. */
void nof_fence_drop(struct nof_head *head);
/* Requests of the head that are held now */
u32 nof_fence_held(const struct nof_head *head);
/**
 * struct nof_hold - what requests are held for
 * @of:		the controller whose association was lost
 * @asked:	the controller that was asked to reset it, or empty
 * @left_ms:	until its bound
 */
struct nof_hold {
	char	of[NVMEOF_NAME_MAX + 1];
	char	asked[NVMEOF_NAME_MAX + 1];
	u32	left_ms;
};

/* Of the subsystem, the one that ends last; false: there is none. Process context. */
bool nof_fence_last(struct nof_subsys *s, struct nof_hold *hold);
/* Module exit: no disk is left, so what there is of fences ends by itself. Sleeps until it has. */
void nof_fence_exit(void);

#endif
