/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a PDU from the target has to look like (NVMe TCP Transport 1.0, 3.6). Pure logic, also compiled in userspace:
 * every field that comes from the wire is checked here before anything else looks at it.
 *
 * Each check returns true when all is well. Otherwise it returns false and has filled the fault; what it was to put
 * out otherwise is then undefined.
 */
#ifndef NOF_TCP_PDU_H
#define NOF_TCP_PDU_H

#include <linux/nvme-tcp.h>
#include <linux/nvme.h>
#include <linux/types.h>

#define NOF_PDU_DIGEST		4
#define NOF_PDU_MAX_ALIGN	128		/* CPDA is 31 at most */
#define NOF_PDU_MAX_H2C_DATA	(1U << 30)	/* what we make of a larger MAXH2CDATA */

/**
 * struct nof_pdu_conf - what both sides have agreed on
 * @hdr_digest:		header digests are used
 * @data_digest:	data digests are used
 * @connected:		ICResp has been received: before it, nothing else is legal, and after it, no second one
 */
struct nof_pdu_conf {
	bool	hdr_digest;
	bool	data_digest;
	bool	connected;
};

/**
 * struct nof_pdu_fault - what is wrong with a PDU
 * @why:	for a person; a constant string
 * @fes:	fatal error status for the H2CTermReq, enum nvme_tcp_fatal_error_status; 0 if none is to be sent
 * @fei:	fatal error information: for invalid and unsupported fields their offset in the PDU, else 0
 */
struct nof_pdu_fault {
	const char	*why;
	u16		fes;
	u32		fei;
};

/**
 * struct nof_pdu_xfer - how far the data of a command have come
 * @len:	bytes of data in all
 * @next:	a read: bytes received. A write: bytes sent in the capsule or asked for by R2T
 * @write:	host to controller
 * @last:	a read: the target has said that no more data come, be they all or not
 */
struct nof_pdu_xfer {
	u32	len;
	u32	next;
	bool	write;
	bool	last;
};

/* What ICResp tells */
struct nof_pdu_params {
	u32	align;		/* data of our PDUs begin at a multiple of it: bytes, 4..NOF_PDU_MAX_ALIGN */
	u32	maxh2cdata;	/* most data in one H2CData PDU: bytes, 4096..NOF_PDU_MAX_H2C_DATA, a multiple of 4 */
};

/**
 * nof_pdu_check_header() - the common header of any PDU from a target
 * @hdr:	the first 8 bytes, nothing more need have arrived
 *
 * Type legal now, HLEN exactly that of the type, digest flags as agreed, PDO and PLEN possible: afterwards
 * nof_pdu_header_len() bytes can be waited for.
 */
bool nof_pdu_check_header(const struct nvme_tcp_hdr *hdr, const struct nof_pdu_conf *conf, struct nof_pdu_fault *fault);

/* True when a PDU of this type carries a header digest under @conf. */
static inline bool nof_pdu_has_hdr_digest(u8 type, const struct nof_pdu_conf *conf)
{
	return conf->hdr_digest && type != nvme_tcp_icresp && type != nvme_tcp_c2h_term;
}

/* Bytes up to the data or the end of the PDU, header digest included. Only for a header that passed the check. */
static inline u32 nof_pdu_header_len(const struct nvme_tcp_hdr *hdr, const struct nof_pdu_conf *conf)
{
	return hdr->hlen + (nof_pdu_has_hdr_digest(hdr->type, conf) ? NOF_PDU_DIGEST : 0);
}

/* ICResp, against the digests asked for in @conf; fills @params. */
bool nof_pdu_check_icresp(const struct nvme_tcp_icresp_pdu *pdu, const struct nof_pdu_conf *conf,
			  struct nof_pdu_params *params, struct nof_pdu_fault *fault);

/* C2HData: lengths that add up. Nothing of it needs the command to be known. */
bool nof_pdu_check_c2h_data(const struct nvme_tcp_data_pdu *pdu, const struct nof_pdu_conf *conf,
			    struct nof_pdu_fault *fault);

/*
 * C2HData against its command. SUCCESS is taken under submission queue flow control too, though it carries no SQHD:
 * targets in use send it so, and the queue's own bound on what is outstanding does not need SQHD.
 */
bool nof_pdu_check_c2h_xfer(const struct nvme_tcp_data_pdu *pdu, const struct nof_pdu_xfer *xfer,
			    struct nof_pdu_fault *fault);

/* R2T against its command, whose previous R2T has been served entirely. */
bool nof_pdu_check_r2t(const struct nvme_tcp_r2t_pdu *pdu, const struct nof_pdu_xfer *xfer,
		       struct nof_pdu_fault *fault);

/**
 * nof_pdu_rsp_status() - the status a response capsule gives its command
 * @status:	from the wire, without the phase bit
 * @xfer:	of the command
 * @bad_digest:	a data digest did not fit
 *
 * Returns @status, or NVME_SC_DATA_XFER_ERROR where it claims success for a read whose data are short or damaged.
 */
u16 nof_pdu_rsp_status(u16 status, const struct nof_pdu_xfer *xfer, bool bad_digest);

/* A response capsule against its command: a write is not done before all its data were asked for. */
bool nof_pdu_check_rsp(u16 status, const struct nof_pdu_xfer *xfer, struct nof_pdu_fault *fault);

/* The name of a fatal error status, for a person. */
const char *nof_pdu_fes_text(u16 fes);

static inline u32 nof_pdu_fei(const struct nvme_tcp_term_pdu *pdu)
{
	return le16_to_cpu(pdu->feil) | (u32)le16_to_cpu(pdu->feiu) << 16;
}

#endif
