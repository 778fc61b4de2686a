/* SPDX-License-Identifier: GPL-2.0-only */
/* One NVMe command on its way: the part every transport and the core share. */
#ifndef NOF_CORE_CMD_H
#define NOF_CORE_CMD_H

#include <linux/blk-mq.h>
#include <linux/nvme.h>
#include <linux/types.h>
#include <linux/uio.h>

struct nof_queue;

enum nof_cmd_state {
	NOF_CMD_IDLE,		/* not in any queue's table */
	NOF_CMD_OWNED,		/* in the table of cmd->queue; a completion for it is the target's error */
	NOF_CMD_SENT,		/* handed to the network by the transport; a completion for it is legal */
};

/**
 * struct nof_cmd - one command
 * @queue:	where it is outstanding; NULL when it is nowhere. Set and cleared by nof_queue_add() and
 *		nof_cmd_complete()
 * @done:	called once, in the context of nof_cmd_complete(); NULL when the command belongs to a block request
 * @ctx:	whoever set @done
 * @buf:	if set, the data: kernel memory with a struct page (kmalloc or pages; not vmalloc). Otherwise those of
 *		the request
 * @len:	bytes of data, 0 for none
 * @cid:	command identifier as on the wire, host order: generation above, slot of the queue below
 * @status:	valid in @done: NVMe status field without the phase bit (SC, SCT, CRD, M, DNR)
 * @state:	enum nof_cmd_state. The transport sets SENT with smp_store_release() before the first byte leaves
 * @write:	data goes from host to controller
 * @discard:	data that come are thrown away
 * @pi_bytes:	protection information of the request's integrity data that goes with each block; 0: it has none, or
 *		none is on the wire
 * @pi_shift:	block size, if @pi_bytes
 * @unknown:	of a command set that the driver does not know: its opcode has no meaning here
 * @maybe_executed: valid when it was cancelled with its queue: it had been sent, so the target may have executed it, or
 *		may still do so
 * @result:	valid in @done: dword 0 and 1 of the completion
 * @sqe:	the submission queue entry; the core fills all but the SGL, the transport the SGL
 * @dsm:	the range of a Dataset Management command, its only data (@buf points here)
 * @priv:	the transport's memory for the slot (slot_size bytes): as its last user left it, zeroed for the first
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
	bool			discard;
	bool			maybe_executed;
	u8			pi_bytes;
	u8			pi_shift;
	bool			unknown;
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
 * @iter:	what is left of the current piece; iov_iter_count() may be 0 only when @left is 0
 * @bio:	the bio @iter lies in, NULL for kernel buffers
 * @left:	bytes left in all
 * @dest:	ITER_DEST or ITER_SOURCE
 * @bvec:	describes a kernel buffer, or a piece of a block that goes with protection information
 * and if @pi_bytes, protection information at the end of each block, is not 0:
 * @pi_shift:	block size
 * @gone:	bytes of @bio, with protection information, that are behind the current piece
 * @bv_idx, @bv_done: where the data that come next are in @bio, as in struct bvec_iter
 */
struct nof_data {
	struct iov_iter	iter;
	struct bio	*bio;
	u32		left;
	unsigned int	dest;
	struct bio_vec	bvec;
	u8		pi_bytes;
	u8		pi_shift;
	u32		gone;
	u32		bv_idx;
	u32		bv_done;
};

/* Begin at byte 0. @dest: ITER_DEST to receive into the data, ITER_SOURCE to send it. Context: any, does not sleep. */
void nof_data_init(struct nof_data *d, struct nof_cmd *cmd, unsigned int dest);
/*
 * After @n bytes of d->iter were consumed by the caller (copied with the iterator itself, so that it advanced, or
 * spliced and advanced): account for them and step to the next bio when the piece is used up.
 */
void nof_data_consumed(struct nof_data *d, u32 n);

#endif
