/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Trace events, /sys/kernel/tracing/events/nvmeof: state changes, path sets, errors. A successful I/O only passes
 * nof_path_select, which costs nothing while disabled. control/trace.c creates them and includes all headers they need.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM nvmeof

#if !defined(NOF_CORE_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define NOF_CORE_TRACE_H

#include <linux/tracepoint.h>
#include "compat/trace.h"
#include "core/ctrl.h"
#include "core/queue.h"

struct nof_head;
struct nof_path;
struct nof_path_set;
struct request;

#define nof_show_ctrl_state(state)			\
	__print_symbolic(state,				\
		{ NVMEOF_CTRL_NEW,		"new" },	\
		{ NVMEOF_CTRL_CONNECTING,	"connecting" },	\
		{ NVMEOF_CTRL_LIVE,		"live" },	\
		{ NVMEOF_CTRL_RECOVERING,	"recovering" },	\
		{ NVMEOF_CTRL_DELETING,		"deleting" },	\
		{ NVMEOF_CTRL_DEAD,		"dead" },	\
		{ NVMEOF_CTRL_LOST,		"lost" })

/* Resolves the enum values for user space that reads the format files */
TRACE_DEFINE_ENUM(NVMEOF_CTRL_NEW);
TRACE_DEFINE_ENUM(NVMEOF_CTRL_CONNECTING);
TRACE_DEFINE_ENUM(NVMEOF_CTRL_LIVE);
TRACE_DEFINE_ENUM(NVMEOF_CTRL_RECOVERING);
TRACE_DEFINE_ENUM(NVMEOF_CTRL_DELETING);
TRACE_DEFINE_ENUM(NVMEOF_CTRL_DEAD);
TRACE_DEFINE_ENUM(NVMEOF_CTRL_LOST);

TRACE_EVENT(nof_ctrl_state,
	TP_PROTO(const struct nof_ctrl *ctrl, u8 from, u8 to),
	TP_ARGS(ctrl, from, to),
	TP_STRUCT__entry(
		__string(ctrl, nof_ctrl_name(ctrl))
		__field(u8, from)
		__field(u8, to)
	),
	TP_fast_assign(
		nof_assign_str(ctrl, nof_ctrl_name(ctrl));
		__entry->from = from;
		__entry->to = to;
	),
	TP_printk("%s: %s -> %s", __get_str(ctrl), nof_show_ctrl_state(__entry->from), nof_show_ctrl_state(__entry->to))
);

/* A path set is published. */
TRACE_EVENT(nof_path_set,
	TP_PROTO(const struct nof_head *h, const struct nof_path_set *set),
	TP_ARGS(h, set),
	TP_STRUCT__entry(
		__string(ns, nof_head_name(h))
		__field(u16, nr_optimized)
		__field(u16, nr_usable)
		__field(bool, may_wait)
	),
	TP_fast_assign(
		nof_assign_str(ns, nof_head_name(h));
		__entry->nr_optimized = set->nr_optimized;
		__entry->nr_usable = set->nr_usable;
		__entry->may_wait = set->may_wait;
	),
	TP_printk("%s: %u paths, %u optimized%s", __get_str(ns), __entry->nr_usable, __entry->nr_optimized,
		  __entry->may_wait ? "" : ", requests do not wait")
);

#define nof_show_choice(why)				\
	__print_symbolic(why,				\
		{ NOF_CHOICE_PROBE,	"probe" },	\
		{ NOF_CHOICE_SPILL,	"spill" },	\
		{ NOF_CHOICE_OTHER,	"other than the first choice" })

TRACE_DEFINE_ENUM(NOF_CHOICE_PROBE);
TRACE_DEFINE_ENUM(NOF_CHOICE_SPILL);
TRACE_DEFINE_ENUM(NOF_CHOICE_OTHER);

/* A request takes another path than the selector's choice. */
TRACE_EVENT(nof_path_choice,
	TP_PROTO(const struct nof_path *path, u8 why),
	TP_ARGS(path, why),
	TP_STRUCT__entry(
		__string(path, path->name)
		__field(u8, why)
	),
	TP_fast_assign(
		nof_assign_str(path, path->name);
		__entry->why = why;
	),
	TP_printk("%s: %s", __get_str(path), nof_show_choice(__entry->why))
);

/* A request is sent on a path. */
TRACE_EVENT(nof_path_select,
	TP_PROTO(const struct nof_path *path, const struct request *rq),
	TP_ARGS(path, rq),
	TP_STRUCT__entry(
		__string(path, path->name)
		__field(u32, hctx)
		__field(u32, tag)
		__field(u32, op)
		__field(u32, bytes)
		__field(u64, sector)
	),
	TP_fast_assign(
		nof_assign_str(path, path->name);
		__entry->hctx = rq->mq_hctx->queue_num;
		__entry->tag = rq->tag;
		__entry->op = (__force u32)req_op(rq);
		__entry->bytes = blk_rq_bytes(rq);
		__entry->sector = blk_rq_pos(rq);
	),
	TP_printk("%s: context %u, tag %u, operation %u, %u bytes at sector %llu", __get_str(path), __entry->hctx,
		  __entry->tag, __entry->op, __entry->bytes, __entry->sector)
);

/* A request completed with an error on its path and is retried. */
TRACE_EVENT(nof_requeue,
	TP_PROTO(const struct nof_path *path, const struct request *rq, u16 status),
	TP_ARGS(path, rq, status),
	TP_STRUCT__entry(
		__string(path, path->name)
		__field(u32, hctx)
		__field(u32, tag)
		__field(u32, op)
		__field(u16, status)
		__field(u64, sector)
	),
	TP_fast_assign(
		nof_assign_str(path, path->name);
		__entry->hctx = rq->mq_hctx->queue_num;
		__entry->tag = rq->tag;
		__entry->op = (__force u32)req_op(rq);
		__entry->status = status;
		__entry->sector = blk_rq_pos(rq);
	),
	TP_printk("%s: context %u, tag %u, operation %u at sector %llu: status 0x%04x", __get_str(path), __entry->hctx,
		  __entry->tag, __entry->op, __entry->sector, __entry->status)
);

/* All requests that failed over from a path are complete. */
TRACE_EVENT(nof_failover,
	TP_PROTO(const struct nof_head *h, const char *from, u32 ios, u64 ns),
	TP_ARGS(h, from, ios, ns),
	TP_STRUCT__entry(
		__string(ns_name, nof_head_name(h))
		__string(from, from)
		__field(u32, ios)
		__field(u64, ns)
	),
	TP_fast_assign(
		nof_assign_str(ns_name, nof_head_name(h));
		nof_assign_str(from, from);
		__entry->ios = ios;
		__entry->ns = ns;
	),
	TP_printk("%s: %u requests left %s, done elsewhere within %llu us", __get_str(ns_name), __entry->ios,
		  __get_str(from), __entry->ns / 1000)
);

TRACE_EVENT(nof_queue_error,
	TP_PROTO(const struct nof_queue *queue, int err, const char *text),
	TP_ARGS(queue, err, text),
	TP_STRUCT__entry(
		__string(ctrl, nof_ctrl_name(queue->ctrl))
		__string(text, text)
		__field(u16, qid)
		__field(int, err)
	),
	TP_fast_assign(
		nof_assign_str(ctrl, nof_ctrl_name(queue->ctrl));
		nof_assign_str(text, text);
		__entry->qid = queue->qid;
		__entry->err = err;
	),
	TP_printk("%s: queue %u: error %d: %s", __get_str(ctrl), __entry->qid, __entry->err, __get_str(text))
);

/* A command completed with an error status. */
TRACE_EVENT(nof_cmd_error,
	TP_PROTO(const struct nof_queue *queue, const struct nof_cmd *cmd, u16 status),
	TP_ARGS(queue, cmd, status),
	TP_STRUCT__entry(
		__string(ctrl, nof_ctrl_name(queue->ctrl))
		__field(u16, qid)
		__field(u16, cid)
		__field(u16, status)
		__field(u8, opcode)
		__field(u32, nsid)
		__field(u64, slba)
	),
	TP_fast_assign(
		nof_assign_str(ctrl, nof_ctrl_name(queue->ctrl));
		__entry->qid = queue->qid;
		__entry->cid = cmd->cid;
		__entry->status = status;
		__entry->opcode = cmd->sqe.common.opcode;
		__entry->nsid = le32_to_cpu(cmd->sqe.common.nsid);
		__entry->slba = le64_to_cpu(cmd->sqe.rw.slba);
	),
	TP_printk("%s: queue %u: command 0x%04x, opcode 0x%02x, nsid %u, cdw10-11 0x%llx: status 0x%04x",
		  __get_str(ctrl), __entry->qid, __entry->cid, __entry->opcode, __entry->nsid, __entry->slba,
		  __entry->status)
);

#define nof_show_fence_end(end)				\
	__print_symbolic(end,				\
		{ NOF_FENCE_RESET,	"reset" },	\
		{ NOF_FENCE_BOUND,	"bound" },	\
		{ NOF_FENCE_DROPPED,	"dropped" })

TRACE_DEFINE_ENUM(NOF_FENCE_RESET);
TRACE_DEFINE_ENUM(NOF_FENCE_BOUND);
TRACE_DEFINE_ENUM(NOF_FENCE_DROPPED);

/* A request is held, because the target may still execute it. */
TRACE_EVENT(nof_fence_hold,
	TP_PROTO(const struct nof_ctrl *ctrl, struct request *rq),
	TP_ARGS(ctrl, rq),
	TP_STRUCT__entry(
		__string(ctrl, nof_ctrl_name(ctrl))
		__string(ns, rq->q->disk->disk_name)
		__field(u8, op)
		__field(u64, sector)
		__field(u32, bytes)
	),
	TP_fast_assign(
		nof_assign_str(ctrl, nof_ctrl_name(ctrl));
		nof_assign_str(ns, rq->q->disk->disk_name);
		__entry->op = (__force u32)req_op(rq);
		__entry->sector = blk_rq_pos(rq);
		__entry->bytes = blk_rq_bytes(rq);
	),
	TP_printk("%s: %s: operation %u, sector %llu, %u bytes", __get_str(ctrl), __get_str(ns), __entry->op,
		  __entry->sector, __entry->bytes)
);

/* Requests held for a lost association are released. */
TRACE_EVENT(nof_fence_release,
	TP_PROTO(const char *ctrl, u32 requests, u8 end, u32 ms),
	TP_ARGS(ctrl, requests, end, ms),
	TP_STRUCT__entry(
		__string(ctrl, ctrl)
		__field(u32, requests)
		__field(u8, end)
		__field(u32, ms)
	),
	TP_fast_assign(
		nof_assign_str(ctrl, ctrl);
		__entry->requests = requests;
		__entry->end = end;
		__entry->ms = ms;
	),
	TP_printk("%s: %u requests after %u ms: %s", __get_str(ctrl), __entry->requests, __entry->ms,
		  nof_show_fence_end(__entry->end))
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH core
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
