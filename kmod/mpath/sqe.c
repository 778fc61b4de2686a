// SPDX-License-Identifier: GPL-2.0-only
/* Submission queue entries for block requests (NVM Command Set 1.0, 3.2). */
#include <linux/blk-integrity.h>
#include "mpath/head.h"
#include "mpath/path.h"
#include "mpath/ranges.h"
#include "mpath/request.h"
#include "wire/identify.h"

static u64 to_lba(const struct nof_head *head, sector_t sector)
{
	return sector >> (head->lba_shift - SECTOR_SHIFT);
}

static u64 lba_of(const struct nof_head *head, const struct request *rq)
{
	return to_lba(head, blk_rq_pos(rq));
}

static u32 blocks_of(const struct nof_head *head, const struct request *rq)
{
	return blk_rq_bytes(rq) >> head->lba_shift;
}

/* Protection information that the block layer has not made: the sender may need it as it is. */
static bool pi_is_foreign(const struct request *rq)
{
	const struct bio_integrity_payload *bip;
	struct bio *bio;

	__rq_for_each_bio(bio, rq) {
		bip = bio_integrity(bio);
		if (!bip || !(bip->bip_flags & BIP_BLOCK_INTEGRITY))
			return true;
	}
	return false;
}

bool nof_sqe_takes_pi(const struct nof_path *path, const struct request *rq)
{
	return nof_carries_pi(path->ctrl, &path->head->format) || !pi_is_foreign(rq);
}

/*
 * The block layer's protection information is not on the wire: the controller makes its own, and checks it. The block
 * layer does not check tuples with an application tag of all ones.
 */
static void pi_ignore(const struct request *rq)
{
	const struct bio_integrity_payload *bip;
	struct bvec_iter it;
	struct bio_vec bv;
	struct bio *bio;

	if (req_op(rq) != REQ_OP_READ)
		return;
	__rq_for_each_bio(bio, rq) {
		bip = bio_integrity(bio);
		for_each_bvec(bv, bip->bip_vec, it, bip->bip_iter)
			memset(bvec_virt(&bv), 0xff, bv.bv_len);
	}
}

/* The protection information of a request goes with its blocks, if it has any and the path can carry it. */
static blk_status_t pi_setup(const struct nof_path *path, struct request *rq, struct nof_cmd *cmd)
{
	const struct nof_ns_format *format = &path->head->format;

	if (likely(!blk_integrity_rq(rq)))
		return BLK_STS_OK;
	if (!nof_carries_pi(path->ctrl, format)) {
		if (pi_is_foreign(rq))
			return BLK_STS_NOTSUPP;
		pi_ignore(rq);
		return BLK_STS_OK;
	}
	cmd->pi_bytes = format->pi_bytes;
	cmd->pi_shift = format->lba_shift;
	cmd->len += (cmd->len >> format->lba_shift) * format->pi_bytes;
	return BLK_STS_OK;
}

/*
 * How it is checked (NVM command set 1.0, 5.2): by the guard and, where the type knows what it is, the reference tag.
 * PRACT where none is on the wire: the controller makes it, and takes it off.
 */
static u16 pi_control(const struct nof_head *head, const struct nof_cmd *cmd)
{
	u16 control = cmd->pi_bytes ? 0 : NVME_RW_PRINFO_PRACT;

	switch (head->format.pi_type) {
	case 0:
		return 0;
	case NVME_NS_DPS_PI_TYPE3:
		return control | NVME_RW_PRINFO_PRCHK_GUARD;
	default:
		return control | NVME_RW_PRINFO_PRCHK_GUARD | NVME_RW_PRINFO_PRCHK_REF;
	}
}

/* The first one expected; the following blocks have those that follow. With a 64-bit guard it has 48 bits. */
static void pi_set_reftag(const struct nof_head *head, const struct request *rq, struct nof_cmd *cmd)
{
	u64 lba = lba_of(head, rq);

	if (!head->format.pi_type || head->format.pi_type == NVME_NS_DPS_PI_TYPE3)
		return;
	cmd->sqe.rw.reftag = cpu_to_le32(lower_32_bits(lba));
	if (head->format.pi_bytes == NOF_PI_BYTES_64B)
		cmd->sqe.rw.cdw3 = cpu_to_le32(upper_32_bits(lba) & 0xffff);
}

static __always_inline blk_status_t setup_rw(const struct nof_path *path, struct request *rq, struct nof_cmd *cmd,
					     u8 opcode)
{
	const struct nof_head *head = path->head;
	struct nvme_rw_command *rw = &cmd->sqe.rw;
	u16 control = 0;
	blk_status_t ret;

	cmd->len = blk_rq_bytes(rq);
	cmd->write = opcode != nvme_cmd_read;
	*rw = (struct nvme_rw_command){
		.opcode	= opcode,
		.nsid	= cpu_to_le32(path->nsid),
		.slba	= cpu_to_le64(lba_of(head, rq)),
		.length	= cpu_to_le16(blocks_of(head, rq) - 1),
	};
	if (unlikely(head->format.pi_type) || blk_integrity_rq(rq)) {
		ret = pi_setup(path, rq, cmd);
		if (unlikely(ret != BLK_STS_OK))
			return ret;
		control = pi_control(head, cmd);
		pi_set_reftag(head, rq, cmd);
	}
	if (rq->cmd_flags & (REQ_FUA | REQ_FAILFAST_DEV | REQ_RAHEAD)) {
		if (rq->cmd_flags & REQ_FUA)
			control |= NVME_RW_FUA;
		if (rq->cmd_flags & (REQ_FAILFAST_DEV | REQ_RAHEAD))
			control |= NVME_RW_LR;
		if (rq->cmd_flags & REQ_RAHEAD)
			rw->dsmgmt = cpu_to_le32(NVME_RW_DSM_FREQ_PREFETCH);
	}
	rw->control = cpu_to_le16(control);
	return BLK_STS_OK;
}

static void setup_write_zeroes(const struct nof_head *head, const struct request *rq, struct nof_cmd *cmd)
{
	struct nvme_write_zeroes_cmd *wz = &cmd->sqe.write_zeroes;
	u16 control = 0;

	memset(wz, 0, sizeof(*wz));
	wz->opcode = nvme_cmd_write_zeroes;
	wz->slba = cpu_to_le64(lba_of(head, rq));
	wz->length = cpu_to_le16(blocks_of(head, rq) - 1);
	/* nothing is read that could be checked */
	if (head->format.pi_type)
		control = NVME_RW_PRINFO_PRACT;
	/* Deallocating is welcome only where it reads back as zeroes, and the caller did not forbid it */
	if (!(rq->cmd_flags & REQ_NOUNMAP) && head->format.discard_zeroes)
		control |= NVME_WZ_DEAC;
	wz->control = cpu_to_le16(control);
	pi_set_reftag(head, rq, cmd);
	cmd->len = 0;
	cmd->write = false;
}

static void set_range(const struct nof_head *head, struct nvme_dsm_range *range, sector_t sector, u32 bytes)
{
	range->cattr = 0;
	range->nlb = cpu_to_le32(bytes >> head->lba_shift);
	range->slba = cpu_to_le64(to_lba(head, sector));
}

/* Bios that follow one another are one range; how many there are */
static u32 set_ranges(const struct nof_head *head, const struct request *rq, struct nvme_dsm_range *ranges)
{
	sector_t from = blk_rq_pos(rq);
	struct bio *bio;
	u32 bytes = 0, nr = 0;

	__rq_for_each_bio(bio, rq) {
		if (bio->bi_iter.bi_sector != from + (bytes >> SECTOR_SHIFT)) {
			from = bio->bi_iter.bi_sector;
			bytes = 0;
			nr++;
		}
		if (WARN_ON_ONCE(nr == NOF_MAX_RANGES))
			return nr;
		bytes += bio->bi_iter.bi_size;
		set_range(head, &ranges[nr], from, bytes);
	}
	return nr + 1;
}

/*
 * One range, held in the command itself; or several that blk-mq has joined, in memory of which some is kept in
 * reserve, as discards may be what frees memory. False if that is in use now.
 */
static bool setup_discard(const struct nof_head *head, struct request *rq, struct nof_cmd *cmd)
{
	struct nof_request *req = container_of(cmd, struct nof_request, cmd);
	struct nvme_dsm_cmd *dsm = &cmd->sqe.dsm;
	u32 nr = 1;

	if (likely(blk_rq_nr_discard_segments(rq) == 1))
		set_range(head, &cmd->dsm, blk_rq_pos(rq), blk_rq_bytes(rq));
	else if (nof_ranges_get(req))
		nr = set_ranges(head, rq, req->ranges);
	else
		return false;
	memset(dsm, 0, sizeof(*dsm));
	dsm->opcode = nvme_cmd_dsm;
	dsm->nr = cpu_to_le32(nr - 1);
	dsm->attributes = cpu_to_le32(NVME_DSMGMT_AD);
	cmd->buf = req->ranges ?: &cmd->dsm;
	cmd->len = nr * sizeof(cmd->dsm);
	cmd->write = true;
	return true;
}

static void setup_zone(const struct nof_head *head, const struct request *rq, struct nof_cmd *cmd, u8 action)
{
	struct nvme_zone_mgmt_send_cmd *zone = &cmd->sqe.zms;

	memset(zone, 0, sizeof(*zone));
	zone->opcode = nvme_cmd_zone_mgmt_send;
	zone->slba = cpu_to_le64(lba_of(head, rq));
	zone->zsa = action;
	zone->select_all = req_op(rq) == REQ_OP_ZONE_RESET_ALL;
	cmd->len = 0;
	cmd->write = false;
}

static void setup_flush(struct nof_cmd *cmd)
{
	memset(&cmd->sqe, 0, sizeof(cmd->sqe));
	cmd->sqe.common.opcode = nvme_cmd_flush;
	cmd->len = 0;
	cmd->write = false;
}

/*
 * A passthrough request brings its own entry; only what the driver owns is filled in, and the SGL flags of an earlier
 * path go.
 */
static void setup_passthrough(const struct nof_head *head, const struct request *rq, struct nof_cmd *cmd)
{
	cmd->sqe.common.flags = 0;
	cmd->unknown = nof_format_is_generic(&head->format);
	cmd->len = blk_rq_bytes(rq);
	cmd->write = op_is_write(req_op(rq));
}

blk_status_t nof_sqe_setup(const struct nof_path *path, struct request *rq, struct nof_cmd *cmd)
{
	const struct nof_head *head = path->head;
	blk_status_t ret = BLK_STS_OK;

	cmd->done = NULL;
	cmd->buf = NULL;
	cmd->pi_bytes = 0;
	cmd->unknown = false;
	/* apart from the others, which would be compared with first */
	if (likely(req_op(rq) == REQ_OP_READ || req_op(rq) == REQ_OP_WRITE))
		return setup_rw(path, rq, cmd, req_op(rq) == REQ_OP_READ ? nvme_cmd_read : nvme_cmd_write);
	switch (req_op(rq)) {
	case REQ_OP_FLUSH:
		setup_flush(cmd);
		break;
	case REQ_OP_DISCARD:
		if (!setup_discard(head, rq, cmd))
			return BLK_STS_RESOURCE;
		break;
	case REQ_OP_WRITE_ZEROES:
		setup_write_zeroes(head, rq, cmd);
		break;
	case REQ_OP_ZONE_APPEND:
		ret = setup_rw(path, rq, cmd, nvme_cmd_zone_append);
		break;
	case REQ_OP_ZONE_OPEN:
		setup_zone(head, rq, cmd, NVME_ZONE_OPEN);
		break;
	case REQ_OP_ZONE_CLOSE:
		setup_zone(head, rq, cmd, NVME_ZONE_CLOSE);
		break;
	case REQ_OP_ZONE_FINISH:
		setup_zone(head, rq, cmd, NVME_ZONE_FINISH);
		break;
	case REQ_OP_ZONE_RESET:
	case REQ_OP_ZONE_RESET_ALL:
		setup_zone(head, rq, cmd, NVME_ZONE_RESET);
		break;
	case REQ_OP_DRV_IN:
	case REQ_OP_DRV_OUT:
		setup_passthrough(head, rq, cmd);
		break;
	default:
		return BLK_STS_NOTSUPP;
	}
	cmd->sqe.common.nsid = cpu_to_le32(path->nsid);
	return ret;
}
