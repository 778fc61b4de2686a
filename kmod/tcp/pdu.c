// SPDX-License-Identifier: GPL-2.0-only
#include <linux/types.h>
#include "tcp/pdu.h"
#include "wire/status.h"

static bool pdu_fault(struct nof_pdu_fault *fault, u16 fes, u32 fei, const char *why)
{
	fault->why = why;
	fault->fes = fes;
	fault->fei = fei;
	return false;
}

#define pdu_field_fault(fault, type, field, why)	\
	pdu_fault(fault, NVME_TCP_FES_INVALID_PDU_HDR, offsetof(type, field), why)

/* Returns HLEN of a PDU type that a target may send, 0 for any other type. */
static u8 header_size(u8 type)
{
	switch (type) {
	case nvme_tcp_icresp:
		return sizeof(struct nvme_tcp_icresp_pdu);
	case nvme_tcp_c2h_term:
		return sizeof(struct nvme_tcp_term_pdu);
	case nvme_tcp_rsp:
		return sizeof(struct nvme_tcp_rsp_pdu);
	case nvme_tcp_c2h_data:
		return sizeof(struct nvme_tcp_data_pdu);
	case nvme_tcp_r2t:
		return sizeof(struct nvme_tcp_r2t_pdu);
	default:
		return 0;
	}
}

static bool legal_now(u8 type, bool connected)
{
	/* The target may end the connection at any time. */
	return type == nvme_tcp_c2h_term || (type == nvme_tcp_icresp) == !connected;
}

static bool check_flags(const struct nvme_tcp_hdr *hdr, const struct nof_pdu_conf *conf, struct nof_pdu_fault *fault)
{
	if (!!(hdr->flags & NVME_TCP_F_HDGST) != nof_pdu_has_hdr_digest(hdr->type, conf))
		return pdu_field_fault(fault, struct nvme_tcp_hdr, flags,
				       "header digest flag differs from the negotiated one");
	if (hdr->type == nvme_tcp_c2h_data && !!(hdr->flags & NVME_TCP_F_DDGST) != conf->data_digest)
		return pdu_field_fault(fault, struct nvme_tcp_hdr, flags,
				       "data digest flag differs from the negotiated one");
	return true;
}

static bool check_plen(const struct nvme_tcp_hdr *hdr, const struct nof_pdu_conf *conf, struct nof_pdu_fault *fault)
{
	u32 plen = le32_to_cpu(hdr->plen);
	u32 start = nof_pdu_header_len(hdr, conf);

	switch (hdr->type) {
	case nvme_tcp_c2h_data:
		/* HPDA is 0: the data begin at any multiple of 4 bytes behind the header (NVMe TCP 1.0, 3.6.2.7) */
		if (hdr->pdo < start || hdr->pdo % 4)
			return pdu_field_fault(fault, struct nvme_tcp_hdr, pdo, "C2HData with an invalid PDO");
		if (plen <= hdr->pdo + (conf->data_digest ? NOF_PDU_DIGEST : 0))
			return pdu_field_fault(fault, struct nvme_tcp_hdr, plen, "C2HData without data");
		return true;
	case nvme_tcp_c2h_term:
		if (plen < NVME_TCP_MIN_C2HTERM_PLEN || plen > NVME_TCP_MAX_C2HTERM_PLEN)
			return pdu_field_fault(fault, struct nvme_tcp_hdr, plen, "C2HTermReq of a wrong length");
		return true;
	default:
		if (plen != start)
			return pdu_field_fault(fault, struct nvme_tcp_hdr, plen, "PLEN does not match the PDU");
		return true;
	}
}

/* An alert of TLS begins with its record type, 21, and the major version, 3 (RFC 8446, 5.1). */
static const char *unknown_type_text(const struct nvme_tcp_hdr *hdr, bool connected)
{
	if (connected)
		return "unexpected PDU type";
	return hdr->type == 21 && hdr->flags == 3 ? "target expects TLS: connect with a TLS key" :
						    "peer does not speak NVMe/TCP";
}

bool nof_pdu_check_header(const struct nvme_tcp_hdr *hdr, const struct nof_pdu_conf *conf, struct nof_pdu_fault *fault)
{
	u8 size = header_size(hdr->type);

	if (!size)
		return pdu_field_fault(fault, struct nvme_tcp_hdr, type, unknown_type_text(hdr, conf->connected));
	if (!legal_now(hdr->type, conf->connected))
		return pdu_fault(fault, NVME_TCP_FES_PDU_SEQ_ERR, 0,
				 conf->connected ? "second ICResp" : "PDU before ICResp");
	if (hdr->hlen != size)
		return pdu_field_fault(fault, struct nvme_tcp_hdr, hlen, "wrong header length");
	return check_flags(hdr, conf, fault) && check_plen(hdr, conf, fault);
}

static bool check_icresp_digests(u8 got, const struct nof_pdu_conf *conf, struct nof_pdu_fault *fault)
{
	u8 asked = (conf->hdr_digest ? NVME_TCP_HDR_DIGEST_ENABLE : 0) |
		   (conf->data_digest ? NVME_TCP_DATA_DIGEST_ENABLE : 0);
	const u8 known = NVME_TCP_HDR_DIGEST_ENABLE | NVME_TCP_DATA_DIGEST_ENABLE;

	if ((got & known) == asked)
		return true;
	return pdu_field_fault(fault, struct nvme_tcp_icresp_pdu, digest,
			       asked & ~got ? "target does not support the digests asked for" :
					"target wants digests that were not asked for");
}

bool nof_pdu_check_icresp(const struct nvme_tcp_icresp_pdu *pdu, const struct nof_pdu_conf *conf,
			  struct nof_pdu_params *params, struct nof_pdu_fault *fault)
{
	u32 max = le32_to_cpu(pdu->maxdata);

	if (le16_to_cpu(pdu->pfv) != NVME_TCP_PFV_1_0)
		return pdu_fault(fault, NVME_TCP_FES_UNSUPPORTED_PARAM, offsetof(struct nvme_tcp_icresp_pdu, pfv),
				 "PDU format version not supported");
	if (pdu->cpda >= NOF_PDU_MAX_ALIGN / 4)
		return pdu_field_fault(fault, struct nvme_tcp_icresp_pdu, cpda, "data alignment out of range");
	if (!check_icresp_digests(pdu->digest, conf, fault))
		return false;
	if (max < NVME_TCP_MIN_MAXH2CDATA || max % 4)
		return pdu_field_fault(fault, struct nvme_tcp_icresp_pdu, maxdata, "MAXH2CDATA out of range");

	params->align = (pdu->cpda + 1) * 4;
	params->maxh2cdata = max < NOF_PDU_MAX_H2C_DATA ? max : NOF_PDU_MAX_H2C_DATA;
	return true;
}

bool nof_pdu_check_c2h_data(const struct nvme_tcp_data_pdu *pdu, const struct nof_pdu_conf *conf,
			    struct nof_pdu_fault *fault)
{
	u64 plen = (u64)pdu->hdr.pdo + le32_to_cpu(pdu->data_length) + (conf->data_digest ? NOF_PDU_DIGEST : 0);

	if (!pdu->data_length)
		return pdu_field_fault(fault, struct nvme_tcp_data_pdu, data_length, "C2HData with data length 0");
	if (plen != le32_to_cpu(pdu->hdr.plen))
		return pdu_field_fault(fault, struct nvme_tcp_hdr, plen, "C2HData PLEN does not match its data");
	if ((pdu->hdr.flags & NVME_TCP_F_DATA_SUCCESS) && !(pdu->hdr.flags & NVME_TCP_F_DATA_LAST))
		return pdu_field_fault(fault, struct nvme_tcp_hdr, flags, "C2HData with SUCCESS but not LAST");
	return true;
}

bool nof_pdu_check_c2h_xfer(const struct nvme_tcp_data_pdu *pdu, const struct nof_pdu_xfer *xfer,
			    struct nof_pdu_fault *fault)
{
	u64 end = (u64)le32_to_cpu(pdu->data_offset) + le32_to_cpu(pdu->data_length);

	if (xfer->write || !xfer->len)
		return pdu_field_fault(fault, struct nvme_tcp_data_pdu, command_id,
				       "C2HData for a command that reads nothing");
	if (le32_to_cpu(pdu->data_offset) != xfer->next)
		return pdu_fault(fault, NVME_TCP_FES_DATA_OUT_OF_RANGE, offsetof(struct nvme_tcp_data_pdu, data_offset),
				 "C2HData offset is not the next byte");
	if (end > xfer->len)
		return pdu_fault(fault, NVME_TCP_FES_DATA_OUT_OF_RANGE, offsetof(struct nvme_tcp_data_pdu, data_length),
				 "C2HData beyond the end of the data");
	if (xfer->last)
		return pdu_fault(fault, NVME_TCP_FES_PDU_SEQ_ERR, 0, "C2HData after the last one of its command");
	return true;
}

bool nof_pdu_check_r2t(const struct nvme_tcp_r2t_pdu *pdu, const struct nof_pdu_xfer *xfer, struct nof_pdu_fault *fault)
{
	u64 end = (u64)le32_to_cpu(pdu->r2t_offset) + le32_to_cpu(pdu->r2t_length);

	if (!xfer->write || !xfer->len)
		return pdu_field_fault(fault, struct nvme_tcp_r2t_pdu, command_id,
				       "R2T for a command that writes nothing");
	if (!pdu->r2t_length)
		return pdu_field_fault(fault, struct nvme_tcp_r2t_pdu, r2t_length, "R2T with length 0");
	if (le32_to_cpu(pdu->r2t_offset) != xfer->next)
		return pdu_fault(fault, NVME_TCP_FES_DATA_OUT_OF_RANGE, offsetof(struct nvme_tcp_r2t_pdu, r2t_offset),
				 "R2T offset is not the next byte");
	if (end > xfer->len)
		return pdu_fault(fault, NVME_TCP_FES_DATA_OUT_OF_RANGE, offsetof(struct nvme_tcp_r2t_pdu, r2t_length),
				 "R2T beyond the end of the data");
	return true;
}

static bool status_is_success(u16 status)
{
	return !(status & NVME_SCT_SC_MASK);
}

u16 nof_pdu_rsp_status(u16 status, const struct nof_pdu_xfer *xfer, bool bad_digest)
{
	if (!status_is_success(status) || xfer->write)
		return nof_status_received(status);
	return bad_digest || xfer->next != xfer->len ? NVME_SC_DATA_XFER_ERROR : status;
}

bool nof_pdu_check_rsp(u16 status, const struct nof_pdu_xfer *xfer, struct nof_pdu_fault *fault)
{
	if (status_is_success(status) && xfer->write && xfer->next != xfer->len)
		return pdu_fault(fault, NVME_TCP_FES_PDU_SEQ_ERR, 0,
				 "write completed before all its data was requested");
	return true;
}

const char *nof_pdu_fes_text(u16 fes)
{
	switch (fes) {
	case NVME_TCP_FES_INVALID_PDU_HDR:
		return "invalid PDU header field";
	case NVME_TCP_FES_PDU_SEQ_ERR:
		return "PDU sequence error";
	case NVME_TCP_FES_HDR_DIGEST_ERR:
		return "header digest error";
	case NVME_TCP_FES_DATA_OUT_OF_RANGE:
		return "data transfer out of range";
	case NVME_TCP_FES_R2T_LIMIT_EXCEEDED:
		return "data transfer or R2T limit exceeded";
	case NVME_TCP_FES_UNSUPPORTED_PARAM:
		return "unsupported parameter";
	default:
		return "reserved status";
	}
}
