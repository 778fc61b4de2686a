// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pdu.h"

#include "crc32c.h"

namespace nofctl::wire {

namespace {

constexpr std::size_t digest_size = 4;
constexpr std::size_t longest_term = 152;
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

// Where data begin
std::size_t dataOffset(std::size_t head, const PduFormat &format)
{
	return roundUp(head + (format.headerDigest ? digest_size : 0), (std::size_t(format.alignment) + 1) * 4);
}

void appendDigest(Bytes &to, std::span<const std::uint8_t> over)
{
	append(to, bytesOf(Le32(crc32c(over))));
}

// Cuts one PDU; what each step finds wrong ends it.
class Cutter {
public:
	Cutter(std::span<const std::uint8_t> stream, const PduFormat &format, std::size_t longest)
		: stream_(stream), format_(format), longest_(longest)
	{
	}

	Pdu cut();

private:
	bool header();
	bool lengths();
	bool dataLengths();
	bool digests();
	bool bad(FatalStatus fes, std::uint32_t fei, const char *why);

	std::span<const std::uint8_t> stream_;
	PduFormat format_;
	std::size_t longest_;
	PduHeader h_{};
	std::size_t dataAt_ = 0, dataEnd_ = 0;
	Pdu pdu_;
};

bool Cutter::bad(FatalStatus fes, std::uint32_t fei, const char *why)
{
	pdu_.fault = PduFault{fes, fei, why};
	return false;
}

// As soon as the common header is there: who waits for what it promises may wait for ever.
bool Cutter::header()
{
	auto size = headerSize(h_.type);
	if (!size)
		return bad(fes_header, at_type, "unknown PDU type");
	if (h_.hlen != size)
		return bad(fes_header, at_hlen, "header length");
	format_ = format_.of(h_.type);
	if (bool(h_.flags & f_hdgst) != format_.headerDigest)
		return bad(fes_header, at_flags, "header digest flag");
	return lengths();
}

bool Cutter::lengths()
{
	const std::size_t head = h_.hlen + (format_.headerDigest ? digest_size : 0), plen = h_.plen;
	if (plen < head || plen > (isTerm(h_.type) ? longest_term : longest_))
		return bad(fes_header, at_plen, "PDU length");
	dataAt_ = dataEnd_ = plen;
	if (isTerm(h_.type)) {
		dataAt_ = head;
		return true;
	}
	if (plen == head && !isData(h_.type))
		return true;
	if (h_.type != pdu_command && !isData(h_.type))
		return bad(fes_header, at_plen, "data where there are none");
	return dataLengths();
}

bool Cutter::dataLengths()
{
	const std::size_t tail = format_.dataDigest ? digest_size : 0;
	dataAt_ = h_.pdo;
	if (dataAt_ % 4 || dataAt_ < dataOffset(h_.hlen, {format_.headerDigest}) || dataAt_ + tail >= dataEnd_)
		return bad(fes_header, at_pdo, "data offset");
	if (bool(h_.flags & f_ddgst) != format_.dataDigest)
		return bad(fes_header, at_flags, "data digest flag");
	dataEnd_ -= tail;
	return true;
}

bool Cutter::digests()
{
	pdu_.head = stream_.first(h_.hlen);
	pdu_.data = stream_.subspan(dataAt_, dataEnd_ - dataAt_);
	if (format_.headerDigest) {
		auto told = get<std::uint32_t>(stream_, h_.hlen);
		if (told != crc32c(pdu_.head))
			return bad(fes_digest, told, "header digest");
	}
	if (isData(h_.type) && pdu_.as<DataPdu>().length != pdu_.data.size())
		return bad(fes_header, at_length, "data length");
	pdu_.damaged = dataEnd_ != h_.plen && get<std::uint32_t>(stream_, dataEnd_) != crc32c(pdu_.data);
	return true;
}

Pdu Cutter::cut()
{
	auto h = decode<PduHeader>(stream_);
	if (!h)
		return pdu_;
	h_ = *h;
	if (header() && stream_.size() >= h_.plen && digests())
		pdu_.length = h_.plen;
	return pdu_;
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

Pdu cut(std::span<const std::uint8_t> stream, const PduFormat &format, std::size_t longest)
{
	return Cutter(stream, format, longest).cut();
}

PduFormat PduFormat::of(std::uint8_t type) const
{
	return type == pdu_ic_req || type == pdu_ic_resp || isTerm(type) ? PduFormat() : *this;
}

void seal(std::span<std::uint8_t> head, std::size_t dataLength, const PduFormat &format)
{
	auto h = *decode<PduHeader>(head);
	std::size_t length = head.size() + (format.headerDigest ? digest_size : 0);
	h.flags = static_cast<std::uint8_t>(h.flags | (format.headerDigest ? f_hdgst : 0));
	if (dataLength) {
		length = dataOffset(head.size(), format);
		h.pdo = static_cast<std::uint8_t>(isTerm(h.type) ? 0 : length);
		h.flags = static_cast<std::uint8_t>(h.flags | (format.dataDigest ? f_ddgst : 0));
		length += dataLength + (format.dataDigest ? digest_size : 0);
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

} // namespace nofctl::wire
