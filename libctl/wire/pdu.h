// SPDX-License-Identifier: LGPL-2.1-or-later
// Parses NVMe/TCP PDUs from a byte stream and assembles them; NVMe TCP Transport 1.0, section 3.6.2.
#pragma once

#include <cstdint>
#include <span>

#include "nvme.h"

namespace nofctl::wire {

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
	static constexpr auto type = pdu_ic_req;
	PduHeader h;
	Le16 pfv;
	std::uint8_t hpda;
	std::uint8_t digest; // bit 0 header, bit 1 data
	Le32 maxr2t;         // 0's based
	std::uint8_t reserved[112];
};
static_assert(sizeof(IcReq) == 128);

struct IcResp {
	static constexpr auto type = pdu_ic_resp;
	PduHeader h;
	Le16 pfv;
	std::uint8_t cpda;
	std::uint8_t digest;
	Le32 maxh2cdata;
	std::uint8_t reserved[112];
};
static_assert(sizeof(IcResp) == 128);

struct CommandPdu {
	static constexpr auto type = pdu_command;
	PduHeader h;
	Command cmd;
};
static_assert(sizeof(CommandPdu) == 72);

struct ResponsePdu {
	static constexpr auto type = pdu_response;
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
	static constexpr auto type = pdu_r2t;
	PduHeader h;
	Le16 cid;
	Le16 ttag;
	Le32 offset;
	Le32 length;
	std::uint8_t reserved[4];
};
static_assert(sizeof(R2tPdu) == 24);

// H2CTermReq and C2HTermReq. The header of the faulty PDU follows as data.
struct TermPdu {
	PduHeader h;
	Le16 fes;
	Le32 fei;
	std::uint8_t reserved[10];
};
static_assert(sizeof(TermPdu) == 24);

enum FatalStatus : std::uint16_t {
	fes_header = 1, // FEI: offset of the faulty field in the header
	fes_sequence = 2,
	fes_digest = 3, // FEI: the received digest
	fes_range = 4,
	fes_limit = 5,
	fes_parameter = 6, // FEI: offset of the faulty field
};

// Size of the header including type-specific fields; 0: unknown type
std::size_t headerSize(std::uint8_t type);

// Creates a header of that type. Data and Term PDUs exist in both directions.
template <class Pdu> Pdu make(PduType type)
{
	Pdu pdu{};
	pdu.h.type = type;
	pdu.h.hlen = sizeof(Pdu);
	return pdu;
}
template <class Pdu> Pdu make()
{
	return make<Pdu>(Pdu::type);
}

// Parameters negotiated by ICReq and ICResp.
struct PduFormat {
	bool headerDigest = false, dataDigest = false;
	std::uint8_t alignment = 0; // data alignment that the peer requires: its HPDA or CPDA, dwords, 0's based

	// The parameters that apply to a PDU type: ICReq, ICResp and Term PDUs have neither digests nor alignment.
	PduFormat of(std::uint8_t type) const;
};

// Sets the fields that depend on the data length: PLEN, PDO, digest flags. @head: headerSize() bytes; @format: result
// of PduFormat::of() for its type
void seal(std::span<std::uint8_t> head, std::size_t dataLength, const PduFormat &format);
// Appends a PDU in wire format to @to. @head must be sealed.
void assemble(Bytes &to, std::span<const std::uint8_t> head, std::span<const std::uint8_t> data,
	      const PduFormat &format);

// The same for data that are sent from elsewhere: the parts before and after the data.
void assembleHead(Bytes &to, std::span<const std::uint8_t> head, const PduFormat &format);
void assembleTail(Bytes &to, std::uint32_t digest, const PduFormat &format); // @digest: crc32c() of the data

// seal() and assemble(). @format: of the connection
template <Layout Pdu>
void write(Bytes &to, const Pdu &pdu, const PduFormat &format = {}, std::span<const std::uint8_t> data = {})
{
	std::array<std::uint8_t, sizeof(Pdu)> head;
	std::ranges::copy(bytesOf(pdu), head.begin());
	const PduFormat its = format.of(pdu.h.type);
	seal(head, data.size(), its);
	assemble(to, head, data, its);
}

// A fatal transport error, as reported in a Term PDU
struct PduFault {
	FatalStatus fes;
	std::uint32_t fei;
	const char *why;
};

// Layout of a PDU, derived from its common header
struct PduShape {
	std::optional<PduFault> fault = {};
	std::size_t head = 0;                // header bytes, including the header digest
	std::size_t dataAt = 0, dataEnd = 0; // equal: no data. The data digest, if any, follows
	std::size_t length = 0;              // bytes of the whole PDU
};

// @format: of the connection. @longest: largest accepted PDU, bytes
PduShape shapeOf(const PduHeader &header, const PduFormat &format, std::size_t longest);

// A PDU within the bytes it was parsed from
struct Pdu {
	std::size_t length = 0; // bytes of the PDU; 0: incomplete, or a fault
	std::optional<PduFault> fault = {};
	std::span<const std::uint8_t> head = {}, data = {}; // without digests
	bool damaged = false;                               // wrong data digest: only this command fails

	std::uint8_t type() const { return head[0]; }
	// As the type's structure. The caller must have checked type().
	template <Layout T> T as() const { return *decode<T>(head); }
};

// Parses the PDU at the start of @stream. Checks lengths and digests only: the caller checks the sequence and other
// fields. @longest: largest accepted PDU, bytes
Pdu cut(std::span<const std::uint8_t> stream, const PduFormat &format, std::size_t longest);

// CRC-32C as in NVMe/TCP digests; RFC 3720, B.4
std::uint32_t crc32c(std::span<const std::uint8_t> data);
// Continues a CRC: @before is the CRC of the preceding data.
std::uint32_t crc32c(std::uint32_t before, std::span<const std::uint8_t> data);

} // namespace nofctl::wire
