// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pdu.h"

#include <algorithm>
#include <climits>

#include <isa-l/crc.h>

namespace nofctl::wire {

namespace {

constexpr std::size_t digestSize = 4;
constexpr std::size_t maxTermSize = 152;
constexpr std::uint32_t at_type = 0, at_flags = 1, at_hlen = 2, at_pdo = 3, at_plen = 4, at_length = 16;

bool isTerm(std::uint8_t type)
{
	return type == pdu_h2c_term || type == pdu_c2h_term;
}

bool isData(std::uint8_t type)
{
	return type == pdu_h2c_data || type == pdu_c2h_data;
}

std::size_t roundUp(std::size_t n, std::size_t to)
{
	return (n + to - 1) / to * to;
}

// Offset of the data
std::size_t dataOffset(std::size_t head, const PduFormat &format)
{
	return roundUp(head + (format.headerDigest ? digestSize : 0), (std::size_t(format.alignment) + 1) * 4);
}

void appendDigest(Bytes &to, std::span<const std::uint8_t> over)
{
	append(to, bytesOf(Le32(crc32c(over))));
}

// Validates a common header; the first fault found ends the checks.
class Shaper {
public:
	Shaper(const PduHeader &header, const PduFormat &format, std::size_t longest)
		: h_(header), format_(format.of(header.type)), maxSize_(longest)
	{
	}

	PduShape shape();

private:
	bool header();
	bool lengths();
	bool dataLengths();
	bool bad(std::uint32_t field, const char *why);

	const PduHeader &h_;
	PduFormat format_;
	std::size_t maxSize_;
	PduShape shape_;
};

bool Shaper::bad(std::uint32_t field, const char *why)
{
	shape_.fault = PduFault{fes_header, field, why};
	return false;
}

bool Shaper::header()
{
	auto size = headerSize(h_.type);
	if (!size)
		return bad(at_type, "unknown PDU type");
	if (h_.hlen != size)
		return bad(at_hlen, "header length");
	if (bool(h_.flags & f_hdgst) != format_.headerDigest)
		return bad(at_flags, "header digest flag");
	return lengths();
}

bool Shaper::lengths()
{
	const std::size_t head = h_.hlen + (format_.headerDigest ? digestSize : 0), plen = h_.plen;
	if (plen < head || plen > (isTerm(h_.type) ? maxTermSize : maxSize_))
		return bad(at_plen, "PDU length");
	shape_.head = head;
	shape_.length = shape_.dataAt = shape_.dataEnd = plen;
	if (isTerm(h_.type)) {
		shape_.dataAt = head;
		return true;
	}
	if (plen == head && !isData(h_.type))
		return true;
	if (h_.type != pdu_command && !isData(h_.type))
		return bad(at_plen, "data where there are none");
	return dataLengths();
}

bool Shaper::dataLengths()
{
	const std::size_t tail = format_.dataDigest ? digestSize : 0, at = h_.pdo;
	if (at % 4 || at < dataOffset(h_.hlen, {format_.headerDigest}) || at + tail >= shape_.length)
		return bad(at_pdo, "data offset");
	if (bool(h_.flags & f_ddgst) != format_.dataDigest)
		return bad(at_flags, "data digest flag");
	shape_.dataAt = at;
	shape_.dataEnd -= tail;
	return true;
}

PduShape Shaper::shape()
{
	header();
	return shape_;
}

// Checks that require the complete PDU
std::optional<PduFault> digests(Pdu &pdu, std::span<const std::uint8_t> stream, const PduShape &shape)
{
	if (shape.head != pdu.head.size()) {
		auto told = get<std::uint32_t>(stream, pdu.head.size());
		if (told != crc32c(pdu.head))
			return PduFault{fes_digest, told, "header digest"};
	}
	if (isData(pdu.type()) && pdu.as<DataPdu>().length != pdu.data.size())
		return PduFault{fes_header, at_length, "data length"};
	pdu.damaged = shape.dataEnd != shape.length && get<std::uint32_t>(stream, shape.dataEnd) != crc32c(pdu.data);
	return {};
}

} // namespace

std::size_t headerSize(std::uint8_t type)
{
	switch (type) {
	case pdu_ic_req:
	case pdu_ic_resp:
		return sizeof(IcReq);
	case pdu_command:
		return sizeof(CommandPdu);
	case pdu_h2c_term:
	case pdu_c2h_term:
	case pdu_response:
	case pdu_h2c_data:
	case pdu_c2h_data:
	case pdu_r2t:
		return sizeof(DataPdu);
	}
	return 0;
}

PduShape shapeOf(const PduHeader &header, const PduFormat &format, std::size_t longest)
{
	return Shaper(header, format, longest).shape();
}

// Reports faults as soon as the common header is complete: the announced data may never arrive.
Pdu cut(std::span<const std::uint8_t> stream, const PduFormat &format, std::size_t longest)
{
	Pdu pdu;
	const auto header = decode<PduHeader>(stream);
	if (!header)
		return pdu;
	const PduShape shape = shapeOf(*header, format, longest);
	pdu.fault = shape.fault;
	if (shape.fault || stream.size() < shape.length)
		return pdu;
	pdu.head = stream.first(header->hlen);
	pdu.data = stream.subspan(shape.dataAt, shape.dataEnd - shape.dataAt);
	pdu.fault = digests(pdu, stream, shape);
	if (!pdu.fault)
		pdu.length = shape.length;
	return pdu;
}

PduFormat PduFormat::of(std::uint8_t type) const
{
	return type == pdu_ic_req || type == pdu_ic_resp || isTerm(type) ? PduFormat() : *this;
}

void seal(std::span<std::uint8_t> head, std::size_t dataLength, const PduFormat &format)
{
	auto h = *decode<PduHeader>(head);
	std::size_t length = head.size() + (format.headerDigest ? digestSize : 0);
	h.flags = static_cast<std::uint8_t>(h.flags | (format.headerDigest ? f_hdgst : 0));
	if (dataLength) {
		length = dataOffset(head.size(), format);
		h.pdo = static_cast<std::uint8_t>(isTerm(h.type) ? 0 : length);
		h.flags = static_cast<std::uint8_t>(h.flags | (format.dataDigest ? f_ddgst : 0));
		length += dataLength + (format.dataDigest ? digestSize : 0);
	}
	h.plen = static_cast<std::uint32_t>(length);
	std::ranges::copy(bytesOf(h), head.begin());
}

void assembleHead(Bytes &to, std::span<const std::uint8_t> head, const PduFormat &format)
{
	const auto start = to.size();
	append(to, head);
	if (format.headerDigest)
		appendDigest(to, head);
	to.resize(start + dataOffset(head.size(), format));
}

void assembleTail(Bytes &to, std::uint32_t digest, const PduFormat &format)
{
	if (format.dataDigest)
		append(to, bytesOf(Le32(digest)));
}

void assemble(Bytes &to, std::span<const std::uint8_t> head, std::span<const std::uint8_t> data,
	      const PduFormat &format)
{
	if (data.empty()) {
		append(to, head);
		if (format.headerDigest)
			appendDigest(to, head);
		return;
	}
	assembleHead(to, head, format);
	append(to, data);
	assembleTail(to, format.dataDigest ? crc32c(data) : 0, format);
}

// ISA-L takes an int length and a pointer to non-const data.
std::uint32_t crc32c(std::uint32_t before, std::span<const std::uint8_t> data)
{
	std::uint32_t crc = ~before;
	while (!data.empty()) {
		auto part = data.first(std::min<std::size_t>(data.size(), INT_MAX));
		crc = ::crc32_iscsi(const_cast<std::uint8_t *>(part.data()), static_cast<int>(part.size()), crc);
		data = data.subspan(part.size());
	}
	return ~crc;
}

std::uint32_t crc32c(std::span<const std::uint8_t> data)
{
	return crc32c(0, data);
}

} // namespace nofctl::wire
