/* SPDX-License-Identifier: GPL-2.0-only */
/* An NVMe command: the part that the core and all transports share. */
#ifndef NOF_CORE_CMD_H
#define NOF_CORE_CMD_H

#include <linux/blk-mq.h>
#include <linux/nvme.h>
#include <linux/types.h>
#include <linux/uio.h>

struct nof_queue;

enum nof_cmd_state {
	NOF_CMD_IDLE,		/* not in any queue's table */
	NOF_CMD_OWNED,		/* in the table of cmd->queue; a completion for it is a protocol error */
	NOF_CMD_SENT,		/* handed to the network by the transport; a completion for it is legal */
};

/**
 * struct nof_cmd - one command
 * @queue:	where it is outstanding, or NULL. Set by nof_queue_add(), cleared by nof_cmd_complete() and
 *		nof_cmd_detach()
 * @done:	called once, in the context of nof_cmd_complete(); NULL when the command belongs to a block request
 * @ctx:	for @done
 * @buf:	if set, the data: kernel memory with a struct page (kmalloc or pages; not vmalloc). Otherwise the data
 *		of the request are used
 * @len:	bytes of data, 0 for none
 * @cid:	command identifier as on the wire, host order: generation in the high bits, slot in the low bits
 * @status:	valid in @done: NVMe status field without the phase bit (SC, SCT, CRD, M, DNR)
 * @state:	enum nof_cmd_state. The transport sets SENT with smp_store_release() before the first byte leaves
 * @write:	data goes from host to controller
 * @drop_data:	received data are discarded
 * @pi_bytes:	protection information transferred with each block, from the request's integrity data; 0: none
 * @pi_shift:	log2 of the block size, if @pi_bytes is not 0
 * @opaque:	its command set is unknown to the driver, and so is the meaning of its opcode
 * @maybe_executed: valid when it was cancelled with its queue: it had been sent, so the target may have executed it, or
 *		may still do so
 * @result:	valid in @done: dword 0 and 1 of the completion
 * @sqe:	the submission queue entry; the core fills all but the SGL, the transport the SGL
 * @dsm:	the range of a Dataset Management command that has one range (@buf points here)
 * @priv:	transport memory of the slot (slot_size bytes): as the slot's last command left it, zeroed for the first
 */
struct nof_cmd {
	struct nof_queue	*queue;
	void			(*done)(struct nof_cmd *cmd);
	void			*ctx;
	void			*buf;
	u32			len;
	u16			cid;
	u16			status;
	u8			state;
	bool			write;
	bool			drop_data;
	bool			maybe_executed;
	u8			pi_bytes;
	u8			pi_shift;
	bool			opaque;
	union nvme_result	result;
	struct nvme_command	sqe;
	struct nvme_dsm_range	dsm;
	void			*priv;
};

/* The block request of a command; only if nof_cmd_has_rq(). */
static inline struct request *nof_cmd_rq(struct nof_cmd *cmd)
{
	return blk_mq_rq_from_pdu(cmd);
}

static inline bool nof_cmd_has_rq(const struct nof_cmd *cmd)
{
	return !cmd->done;
}

/**
 * struct nof_data - a cursor over the data of a command, from its first byte to its last
 * @iter:	the rest of the current piece; iov_iter_count() may be 0 only when @left is 0
 * @bio:	the bio @iter lies in, NULL for kernel buffers
 * @left:	bytes left in all
 * @dest:	ITER_DEST or ITER_SOURCE
 * @bvec:	describes a kernel buffer, or a piece of a block with protection information
 * @pi_bytes:	protection information at the end of each block; the following are valid unless it is 0
 * @pi_shift:	log2 of the block size
 * @bio_done:	bytes of @bio, including protection information, before the current piece
 * @bv_idx, @bv_done: position of the next data in @bio, as in struct bvec_iter
 */
struct nof_data {
	struct iov_iter	iter;
	struct bio	*bio;
	u32		left;
	unsigned int	dest;
	struct bio_vec	bvec;
	u8		pi_bytes;
	u8		pi_shift;
	u32		bio_done;
	u32		bv_idx;
	u32		bv_done;
};

/* Starts at byte 0. @dest: ITER_DEST to receive into the data, ITER_SOURCE to send it. Context: any, does not sleep. */
void nof_data_init(struct nof_data *d, struct nof_cmd *cmd, unsigned int dest);
/*
 * Accounts for @n bytes that the caller has consumed from d->iter (by copying, or by splicing and advancing it), and
 * moves on when the current piece is used up.
 */
void nof_data_consumed(struct nof_data *d, u32 n);

#endif
