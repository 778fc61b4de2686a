// SPDX-License-Identifier: GPL-2.0-only
#include <linux/blk-mq.h>
#include <linux/mempool.h>
#include <linux/slab.h>
#include "compat/limits.h"
#include "compat/zones.h"
#include "core/cmd.h"
#include "mpath/command.h"
#include "mpath/head.h"
#include "mpath/request.h"
#include "mpath/zones.h"
#include "wire/status.h"
#include "wire/zone.h"

/* Size of one report command: 511 zones */
#define REPORT_BYTES	(32 << 10)
/* Report of one zone, for a request that may have been executed */
#define ONE_ZONE	(sizeof(struct nvme_zone_report) + sizeof(struct nvme_zone_descriptor))
/* Such reports that can be sent even without free memory */
#define MIN_QUESTIONS	4

static mempool_t *questions;

int nof_zones_init(void)
{
	questions = mempool_create_kmalloc_pool(MIN_QUESTIONS, ONE_ZONE);
	return questions ? 0 : -ENOMEM;
}

void nof_zones_exit(void)
{
	mempool_destroy(questions);
}

static u64 sectors_of(const struct nof_head *head, u64 blocks)
{
	return blocks << (head->lba_shift - SECTOR_SHIFT);
}

static u64 sectors_to_blocks(const struct nof_head *head, u64 sectors)
{
	return sectors >> (head->lba_shift - SECTOR_SHIFT);
}

static void fill_report(struct nvme_command *sqe, u64 slba, u32 len)
{
	struct nvme_zone_mgmt_recv_cmd *zmr = &sqe->zmr;

	memset(zmr, 0, sizeof(*zmr));
	zmr->opcode = nvme_cmd_zone_mgmt_recv;
	zmr->slba = cpu_to_le64(slba);
	zmr->numd = cpu_to_le32(len / 4 - 1);
	zmr->zra = NVME_ZRA_ZONE_REPORT;
	zmr->zrasf = NVME_ZRASF_ZONE_REPORT_ALL;
	zmr->pr = 1;
}

/**
 * struct report - report of many zones, read in parts
 * @len:	bytes of @data
 * @no_wait:	neither wait for a path nor retry
 */
struct report {
	struct nof_head		*head;
	struct nvme_zone_report	*data;
	u32			len;
	bool			no_wait;
};

/* Retried on any path, unless @no_wait, as a report changes nothing. Returns 0 or a negative errno. */
static int report_send(const struct report *r, u64 slba, u32 len)
{
	struct nof_command cmd = {
		.buf = r->data,
		.len = len,
		.no_wait = r->no_wait,
		.retry = r->no_wait ? NOF_CMD_RETRY_NEVER : NOF_CMD_RETRY_ALWAYS,
	};
	int ret;

	fill_report(&cmd.sqe, slba, len);
	ret = nof_command_exec(r->head, &cmd);
	return ret > 0 ? nof_status_errno(ret) : ret;
}

static int zones_report_refuse(struct nof_head *head, const char *why)
{
	WRITE_ONCE(head->zone_fault, why);
	pr_warn_ratelimited("nvmeof: %s: %s\n", nof_head_name(head), why);
	return -EPROTO;
}

static void zone_describe(const struct nof_head *head, const struct nof_zone *zone, struct blk_zone *to)
{
	u64 end = zone->start + head->format.zone_blocks;

	memset(to, 0, sizeof(*to));
	to->type = BLK_ZONE_TYPE_SEQWRITE_REQ;
	to->cond = zone->state;
	to->reset = zone->reset_recommended;
	to->start = sectors_of(head, zone->start);
	to->len = sectors_of(head, head->format.zone_blocks);
	to->capacity = sectors_of(head, zone->capacity);
	to->wp = sectors_of(head, zone->state > NOF_ZONE_CLOSED ? end : zone->wp);
}

/* Reports the zones of the part read from block @at on. Returns their number, or a negative errno. */
static int report_pass(const struct report *r, u64 at, u32 len, unsigned int idx, struct blk_report_zones_args *args)
{
	struct nof_head *head = r->head;
	u64 size = head->format.zone_blocks;
	struct blk_zone told;
	struct nof_zone zone;
	const char *why;
	int i, ret, nr;

	nr = nof_zone_count(r->data, len, (head->format.nlbas - at) >> ilog2(size), &why);
	for (i = 0; !why && i < nr; i++) {
		why = nof_zone_decode(&r->data->entries[i], at + i * size, size, &zone);
		if (why)
			break;
		zone_describe(head, &zone, &told);
		ret = disk_report_zone(head->disk, &told, idx + i, args);
		if (ret)
			return ret;
	}
	return why ? zones_report_refuse(head, why) : nr;
}

static u32 report_bytes(const struct report *r, u64 zones)
{
	u64 len = sizeof(struct nvme_zone_report) + zones * sizeof(struct nvme_zone_descriptor);

	return min_t(u64, len, r->len);
}

static int zones_report_all(const struct report *r, u64 at, unsigned int nr, struct blk_report_zones_args *args)
{
	const struct nof_ns_format *f = &r->head->format;
	unsigned int done = 0;

	while (done < nr && at < f->nlbas) {
		u32 len = report_bytes(r, min_t(u64, nr - done, (f->nlbas - at) >> ilog2(f->zone_blocks)));
		int ret = report_send(r, at, len);

		if (!ret)
			ret = report_pass(r, at, len, done, args);
		if (ret < 0)
			return ret;
		done += ret;
		at += ret * f->zone_blocks;
	}
	return done;
}

int nof_zones_report(struct gendisk *disk, sector_t sector, unsigned int nr, struct blk_report_zones_args *args)
{
	struct nof_head *head = disk->private_data;
	struct report r = { .head = head, .len = min_t(u32, REPORT_BYTES, head->limits.max_bytes & PAGE_MASK) };
	int ret;

	if (!head->format.zone_blocks)
		return -EOPNOTSUPP;
	/* the first report is read before the disk is shown, which must not wait for a path */
	r.no_wait = !test_bit(NOF_HEAD_ADDED, &head->flags);
	r.len = report_bytes(&r, min_t(u64, nr, head->format.nlbas >> ilog2(head->format.zone_blocks)));
	r.data = kzalloc(r.len, GFP_NOIO);
	if (!r.data)
		return -ENOMEM;
	ret = zones_report_all(&r, round_down(sectors_to_blocks(head, sector), head->format.zone_blocks), nr, args);
	kfree(r.data);
	return ret;
}

int nof_zones_begin(struct nof_head *head)
{
	int ret;

	WRITE_ONCE(head->zone_fault, NULL);
	ret = nof_limits_read_zones(head->disk);
	/* the block layer does not support these zones */
	if (ret == -ENODEV) {
		WRITE_ONCE(head->zone_fault,
			   "zones are not supported by the block layer: capacities differ");
		ret = -EPROTO;
	}
	return ret;
}

static enum nof_zone_act act_of(const struct request *rq)
{
	switch (req_op(rq)) {
	case REQ_OP_ZONE_OPEN:
		return NOF_ZONE_ACT_OPEN;
	case REQ_OP_ZONE_CLOSE:
		return NOF_ZONE_ACT_CLOSE;
	case REQ_OP_ZONE_FINISH:
		return NOF_ZONE_ACT_FINISH;
	case REQ_OP_ZONE_RESET:
		return NOF_ZONE_ACT_RESET;
	default:
		return NOF_ZONE_ACT_WRITE;
	}
}

/* True if a zone report shows whether the request was executed. A reset of all zones may be repeated without that. */
static bool of_a_zone(const struct request *rq)
{
	return req_op(rq) == REQ_OP_WRITE || act_of(rq) != NOF_ZONE_ACT_WRITE;
}

/* A command that completed with an error may have been executed in part */
void nof_zone_mark_unknown(struct nof_request *req, const struct request *rq)
{
	bool aborted = req->cmd.status == NVME_SC_HOST_ABORTED_CMD;

	if (!blk_queue_is_zoned(rq->q) || !of_a_zone(rq))
		return;
	if (!aborted || req->cmd.maybe_executed)
		req->zone = NOF_ZONE_UNKNOWN;
}

static u64 zone_start(const struct nof_head *head, const struct request *rq)
{
	return round_down(sectors_to_blocks(head, blk_rq_pos(rq)), head->format.zone_blocks);
}

int nof_zone_query(struct nof_head *head, struct nof_request *req, u32 nsid)
{
	struct nof_cmd *cmd = &req->cmd;
	void *buf = mempool_alloc(questions, GFP_NOWAIT | __GFP_NOWARN);

	if (!buf)
		return -ENOMEM;
	fill_report(&cmd->sqe, zone_start(head, nof_cmd_rq(cmd)), ONE_ZONE);
	cmd->sqe.common.nsid = cpu_to_le32(nsid);
	cmd->done = NULL;
	cmd->buf = buf;
	cmd->len = ONE_ZONE;
	cmd->write = false;
	req->zone = NOF_ZONE_QUERIED;
	return 0;
}

void nof_zone_query_free(struct nof_request *req)
{
	if (req->zone != NOF_ZONE_QUERIED)
		return;
	mempool_free(req->cmd.buf, questions);
	req->cmd.buf = NULL;
	req->zone = NOF_ZONE_UNKNOWN;
}

static enum nof_zone_verdict zone_judge_report(struct nof_head *head, const struct request *rq,
					       const struct nvme_zone_report *r)
{
	u64 from = sectors_to_blocks(head, blk_rq_pos(rq)), to = from + sectors_to_blocks(head, blk_rq_sectors(rq));
	struct nof_zone zone;
	const char *why;

	nof_zone_count(r, ONE_ZONE, 1, &why);
	if (!why)
		why = nof_zone_decode(&r->entries[0], zone_start(head, rq), head->format.zone_blocks, &zone);
	if (why) {
		pr_warn_ratelimited("nvmeof: %s: %s\n", nof_head_name(head), why);
		return NOF_ZONE_UNDECIDED;
	}
	return nof_zone_judge(&zone, act_of(rq), from, to);
}

enum nof_zone_verdict nof_zone_query_done(struct nof_request *req, struct request *rq)
{
	struct nof_head *head = rq->q->queuedata;
	enum nof_zone_verdict verdict = NOF_ZONE_QUERY_FAILED;
	struct nof_cmd *cmd = &req->cmd;
	bool answered = !(cmd->status & NVME_SCT_SC_MASK);

	if (answered)
		verdict = zone_judge_report(head, rq, cmd->buf);
	else
		cmd->maybe_executed = false; /* not held by a fence: only the report was lost */
	nof_zone_query_free(req);
	if (!answered)
		return verdict;
	req->zone = NOF_ZONE_KNOWN;
	cmd->status = verdict == NOF_ZONE_UNDECIDED ? NVME_SC_ZONE_INVALID_WRITE | NVME_STATUS_DNR : 0;
	if (verdict == NOF_ZONE_UNDECIDED)
		pr_warn_ratelimited("nvmeof: %s: sector %llu: outcome of a lost write is unknown, failed with EIO\n",
				    nof_head_name(head), (u64)blk_rq_pos(rq));
	return verdict;
}

void nof_zone_appended(const struct nof_head *head, struct request *rq)
{
	struct nof_request *req = blk_mq_rq_to_pdu(rq);
	u64 start = zone_start(head, rq), at = le64_to_cpu(req->cmd.result.u64);
	u64 blocks = sectors_to_blocks(head, blk_rq_sectors(rq));

	if (at < start || at - start > head->format.zone_blocks - blocks) {
		pr_warn_ratelimited("nvmeof: %s: sector %llu: the target reports a zone append outside its zone\n",
				    nof_head_name(head), (u64)blk_rq_pos(rq));
		req->cmd.status = NVME_SC_ZONE_BOUNDARY_ERROR | NVME_STATUS_DNR;
		return;
	}
	rq->__sector = sectors_of(head, at);
}

bool nof_zone_lost_append(const struct nof_request *req, const struct request *rq)
{
	if (req_op(rq) != REQ_OP_ZONE_APPEND || req->cmd.status != NVME_SC_HOST_ABORTED_CMD || !req->cmd.maybe_executed)
		return false;
	pr_warn_ratelimited("nvmeof: %s: sector %llu: a lost zone append may have been executed\n",
			    rq->q->disk->disk_name, (u64)blk_rq_pos(rq));
	return true;
}
