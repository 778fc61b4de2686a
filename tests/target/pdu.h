// SPDX-License-Identifier: LGPL-2.1-or-later
// NVMe/TCP PDUs; NVMe TCP Transport 1.0, section 3.6.2.
#pragma once

#include "nvme.h"

namespace target {

enum PduType : std::uint8_t {
	pdu_ic_req = 0x00,
	pdu_ic_resp = 0x01,
	pdu_h2c_term = 0x02,
	pdu_c2h_term = 0x03,
	pdu_command = 0x04,
	pdu_response = 0x05,
	pdu_h2c_data = 0x06,
	pdu_c2h_data = 0x07,
	pdu_r2t = 0x09,
};

enum PduFlag : std::uint8_t { f_hdgst = 1, f_ddgst = 2, f_last = 4, f_success = 8 };

struct PduHeader {
	std::uint8_t type;
	std::uint8_t flags;
	std::uint8_t hlen;
	std::uint8_t pdo;
	Le32 plen;
};
static_assert(sizeof(PduHeader) == 8);

struct IcReq {
	PduHeader h;
	Le16 pfv;
	std::uint8_t hpda;
	std::uint8_t digest; // bit 0 header, bit 1 data
	Le32 maxr2t;         // 0's based
	std::uint8_t reserved[112];
};
static_assert(sizeof(IcReq) == 128);

struct IcResp {
	PduHeader h;
	Le16 pfv;
	std::uint8_t cpda;
	std::uint8_t digest;
	Le32 maxh2cdata;
	std::uint8_t reserved[112];
};
static_assert(sizeof(IcResp) == 128);

struct CommandPdu {
	PduHeader h;
	Command cmd;
};
static_assert(sizeof(CommandPdu) == 72);

struct ResponsePdu {
	PduHeader h;
	Completion cqe;
};
static_assert(sizeof(ResponsePdu) == 24);

// H2CData and C2HData
struct DataPdu {
	PduHeader h;
	Le16 cid;
	Le16 ttag;
	Le32 offset;
	Le32 length;
	std::uint8_t reserved[4];
};
static_assert(sizeof(DataPdu) == 24);

struct R2tPdu {
	PduHeader h;
	Le16 cid;
	Le16 ttag;
	Le32 offset;
	Le32 length;
	std::uint8_t reserved[4];
};
static_assert(sizeof(R2tPdu) == 24);

struct TermPdu {
	PduHeader h;
	Le16 fes;
	Le32 fei;
	std::uint8_t reserved[10];
};
static_assert(sizeof(TermPdu) == 24);

} // namespace target
