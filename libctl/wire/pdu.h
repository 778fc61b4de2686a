// SPDX-License-Identifier: LGPL-2.1-or-later
// NVMe/TCP PDUs, cut out of a stream of bytes and written into one; NVMe TCP Transport 1.0, section 3.6.2.
#pragma once

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

// H2CTermReq and C2HTermReq; the header of the PDU that was wrong follows as data.
struct TermPdu {
	PduHeader h;
	Le16 fes;
	Le32 fei;
	std::uint8_t reserved[10];
};
static_assert(sizeof(TermPdu) == 24);

enum FatalStatus : std::uint16_t {
	fes_header = 1, // FEI: offset of the wrong field in the header
	fes_sequence = 2,
	fes_digest = 3, // FEI: the digest that came
	fes_range = 4,
	fes_limit = 5,
	fes_parameter = 6, // FEI: offset likewise
};

// The size of the header, with the fields of its type; 0: there is no such type
std::size_t headerSize(std::uint8_t type);

// A header of its type; Data and Term PDUs come in two
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

// What was agreed on with ICReq and ICResp.
struct PduFormat {
	bool headerDigest = false, dataDigest = false;
	std::uint8_t alignment = 0; // that the peer wants data to have: its HPDA or CPDA, dwords, 0's based

	// What of it holds for a PDU: ICReq, ICResp and Term PDUs have neither digests nor alignment.
	PduFormat of(std::uint8_t type) const;
};

// Fills in what follows from the length of the data: PLEN, PDO, digest flags. @head: of headerSize() bytes; @format:
// of its type
void seal(std::span<std::uint8_t> head, std::size_t dataLength, const PduFormat &format);
// Adds a PDU to @to as it goes over the wire, with a header that was sealed.
void assemble(Bytes &to, std::span<const std::uint8_t> head, std::span<const std::uint8_t> data,
	      const PduFormat &format);

// The same for data that are sent from where they are: what goes before them, and what behind.
void assembleHead(Bytes &to, std::span<const std::uint8_t> head, const PduFormat &format);
void assembleTail(Bytes &to, std::uint32_t digest, const PduFormat &format); // @digest: crc32c() of the data

// Both at once; @format: of the connection
template <Layout Pdu>
void write(Bytes &to, const Pdu &pdu, const PduFormat &format = {}, std::span<const std::uint8_t> data = {})
{
	std::array<std::uint8_t, sizeof(Pdu)> head;
	std::ranges::copy(bytesOf(pdu), head.begin());
	const PduFormat its = format.of(pdu.h.type);
	seal(head, data.size(), its);
	assemble(to, head, data, its);
}

// Why a connection cannot go on, as a Term PDU tells it
struct PduFault {
	FatalStatus fes;
	std::uint32_t fei;
	const char *why;
};

// What a PDU has where, as its common header tells
struct PduShape {
	std::optional<PduFault> fault = {};
	std::size_t head = 0;                // bytes of the header, with its digest
	std::size_t dataAt = 0, dataEnd = 0; // the same: there are none. Behind them is their digest, if there is one
	std::size_t length = 0;              // of all of it
};

// @format: of the connection. @longest: that is taken, in bytes
PduShape shapeOf(const PduHeader &header, const PduFormat &format, std::size_t longest);

// A PDU in the bytes that it was cut out of
struct Pdu {
	std::size_t length = 0; // of all of it; 0: it is not complete yet, or there is a fault
	std::optional<PduFault> fault = {};
	std::span<const std::uint8_t> head = {}, data = {}; // without digests
	bool damaged = false;                               // the data digest is wrong: one command's failure

	std::uint8_t type() const { return head[0]; }
	// Of its type, which has been looked at
	template <Layout T> T as() const { return *decode<T>(head); }
};

// The PDU that @stream begins with. Whether it may come now, and what its fields say beyond lengths, is for others to
// judge. @longest: that is taken, in bytes
Pdu cut(std::span<const std::uint8_t> stream, const PduFormat &format, std::size_t longest);

} // namespace nofctl::wire
