/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Checks of the PDUs that a target sends (NVMe TCP Transport 1.0, 3.6). Pure logic, also compiled in userspace. Fields
 * from the wire are checked here before other code uses them.
 *
 * Each check returns true if the PDU is valid. Otherwise it fills the fault and returns false; other output parameters
 * are then undefined.
 */
#ifndef NOF_TCP_PDU_H
#define NOF_TCP_PDU_H

#include <linux/nvme-tcp.h>
#include <linux/nvme.h>
#include <linux/types.h>

#define NOF_PDU_DIGEST		4
#define NOF_PDU_MAX_ALIGN	128		/* CPDA is 31 at most */
#define NOF_PDU_MAX_H2C_DATA	(1U << 30)	/* a larger MAXH2CDATA is reduced to this */

/**
 * struct nof_pdu_conf - parameters that both sides agree on
 * @hdr_digest:		header digests are used
 * @data_digest:	data digests are used
 * @connected:		ICResp has been received: before that only ICResp and C2HTermReq are legal, after it no ICResp
 */
struct nof_pdu_conf {
	bool	hdr_digest;
	bool	data_digest;
	bool	connected;
};

/**
 * struct nof_pdu_fault - error in a PDU
 * @why:	description for the log; a constant string
 * @fes:	fatal error status for the H2CTermReq, enum nvme_tcp_fatal_error_status; 0 if none is to be sent
 * @fei:	fatal error information: the offset of the wrong field in the PDU, the header digest that was received
 *		if that is wrong, else 0
 */
struct nof_pdu_fault {
	const char	*why;
	u16		fes;
	u32		fei;
};

/**
 * struct nof_pdu_xfer - progress of the data of a command
 * @len:	total bytes of data
 * @next:	read: bytes received. Write: bytes sent in the capsule or requested by R2T
 * @write:	data go from host to controller
 * @last:	read: the target has sent C2HData with LAST, whether or not the data are complete
 */
struct nof_pdu_xfer {
	u32	len;
	u32	next;
	bool	write;
	bool	last;
};

/* Parameters from ICResp */
struct nof_pdu_params {
	u32	align;		/* alignment of the data in our PDUs: bytes, 4..NOF_PDU_MAX_ALIGN */
	u32	maxh2cdata;	/* most data in one H2CData PDU: bytes, 4096..NOF_PDU_MAX_H2C_DATA, a multiple of 4 */
};

/**
 * nof_pdu_check_header() - check the common header of a PDU from a target
 * @hdr:	the first 8 bytes; the rest need not have arrived
 *
 * Checks that the type is legal now, HLEN is that of the type, the digest flags are as agreed, and PDO and PLEN are
 * possible. If so, the caller can wait for nof_pdu_header_len() bytes.
 */
bool nof_pdu_check_header(const struct nvme_tcp_hdr *hdr, const struct nof_pdu_conf *conf, struct nof_pdu_fault *fault);

/* True if a PDU of this type carries a header digest under @conf. */
static inline bool nof_pdu_has_hdr_digest(u8 type, const struct nof_pdu_conf *conf)
{
	return conf->hdr_digest && type != nvme_tcp_icresp && type != nvme_tcp_c2h_term;
}

/* Length of the header with its digest. Only for a header that passed nof_pdu_check_header(). */
static inline u32 nof_pdu_header_len(const struct nvme_tcp_hdr *hdr, const struct nof_pdu_conf *conf)
{
	return hdr->hlen + (nof_pdu_has_hdr_digest(hdr->type, conf) ? NOF_PDU_DIGEST : 0);
}

/* Checks ICResp against the digests requested in @conf; fills @params. */
bool nof_pdu_check_icresp(const struct nvme_tcp_icresp_pdu *pdu, const struct nof_pdu_conf *conf,
			  struct nof_pdu_params *params, struct nof_pdu_fault *fault);

/* Checks the lengths and flags of C2HData that do not depend on the command. */
bool nof_pdu_check_c2h_data(const struct nvme_tcp_data_pdu *pdu, const struct nof_pdu_conf *conf,
			    struct nof_pdu_fault *fault);

/*
 * Checks C2HData against its command. SUCCESS is accepted with submission queue flow control as well, although it
 * carries no SQHD: targets in use send it, and the queue bounds its outstanding commands without SQHD.
 */
bool nof_pdu_check_c2h_xfer(const struct nvme_tcp_data_pdu *pdu, const struct nof_pdu_xfer *xfer,
			    struct nof_pdu_fault *fault);

/* Checks R2T against its command, whose previous R2T has been served entirely. */
bool nof_pdu_check_r2t(const struct nvme_tcp_r2t_pdu *pdu, const struct nof_pdu_xfer *xfer,
		       struct nof_pdu_fault *fault);

/**
 * nof_pdu_rsp_status() - status with which a response capsule completes its command
 * @status:	from the wire, without the phase bit
 * @xfer:	of the command
 * @bad_digest:	a data digest did not match
 *
 * Returns NVME_SC_DATA_XFER_ERROR for success of a read whose data are short or damaged, else
 * nof_status_received().
 */
u16 nof_pdu_rsp_status(u16 status, const struct nof_pdu_xfer *xfer, bool bad_digest);

/* Checks a response capsule against its command: a write cannot succeed before all its data were requested. */
bool nof_pdu_check_rsp(u16 status, const struct nof_pdu_xfer *xfer, struct nof_pdu_fault *fault);

/* Returns the name of a fatal error status, for the log. */
const char *nof_pdu_fes_text(u16 fes);

static inline u32 nof_pdu_fei(const struct nvme_tcp_term_pdu *pdu)
{
	return le16_to_cpu(pdu->feil) | (u32)le16_to_cpu(pdu->feiu) << 16;
}

#endif
