// SPDX-License-Identifier: LGPL-2.1-or-later
#include "admin_codec.h"

#include <algorithm>
#include <cstddef>

#include "libctl/wire/pdu.h"

namespace initiator {

using namespace nofctl::wire;

namespace {

constexpr std::size_t inCapsuleSize =
	8192; // in-capsule data that every controller accepts on an admin queue; 3.3.2.2.2
constexpr std::uint32_t minH2cData = 4096;
constexpr std::size_t maxHeadSize = 255 + 4; // PDO is one byte; plus a digest
constexpr std::uint8_t maxCpda = 31;
constexpr std::uint16_t slotMask = 3;
constexpr std::uint16_t cidStep = slotMask + 1;

template <class Layout> bool allZero(const Layout &bytes)
{
	return std::ranges::all_of(bytes, [](std::uint8_t byte) { return byte == 0; });
}

constexpr PduFault makeFault(FatalStatus fes, std::size_t field, const char *why)
{
	return {fes, static_cast<std::uint32_t>(field), why};
}

// The completion that C2HData with SUCCESS implies
Completion success(std::uint16_t cid)
{
	Completion completion{};
	completion.cid = cid;
	return completion;
}

} // namespace

void AdminCodec::hello(Bytes &out, Digests digests)
{
	digests_ = digests;
	auto request = make<IcReq>();
	request.digest = static_cast<std::uint8_t>(digests.header | digests.data << 1);
	write(out, request);
}

void AdminCodec::command(Bytes &out, Slot slot, Command cmd, Data data, std::uint32_t expected)
{
	auto pdu = make<CommandPdu>();
	last_ = static_cast<std::uint16_t>(last_ + cidStep);
	const auto index = static_cast<std::uint16_t>(slot);
	cids_[index] = static_cast<std::uint16_t>(last_ | index);
	open_ = static_cast<std::uint8_t>(open_ | 1u << index);
	cmd.cid = cids_[index];
	const bool inside = data.size() <= inCapsuleSize;
	if (!data.empty()) {
		cmd.sgl.length = static_cast<std::uint32_t>(data.size());
		cmd.sgl.type = inside ? sgl_in_capsule : sgl_transport;
	}
	if (slot == Slot::command) {
		expected_ = expected;
		received_ = sent_ = 0;
		lastData_ = false;
		data_ = inside ? Data() : data;
	}
	pdu.cmd = cmd;
	write(out, pdu, format_, inside ? data : Data());
}

// Limit of a received PDU: the data that are still expected
std::size_t AdminCodec::maxPduSize() const
{
	return std::max(sizeof(IcResp), maxHeadSize + (expected_ - received_));
}

AdminCodec::Received AdminCodec::next(Data &bytes, Bytes &out)
{
	for (;;) {
		const Receiver::Piece piece = receiver_.next(bytes, maxPduSize());
		if (piece.kind == Receiver::Kind::nothing)
			return {};
		Received received = processPiece(piece, out);
		if (received.kind != Kind::nothing || received.violation)
			return received;
	}
}

AdminCodec::Received AdminCodec::processPiece(const Receiver::Piece &piece, Bytes &out)
{
	switch (piece.kind) {
	case Receiver::Kind::header:
		if (const Fault fault = header(out))
			return fail(*fault, out);
		break;
	case Receiver::Kind::data:
		if (receiver_.type() != pdu_c2h_data)
			break;
		received_ += static_cast<std::uint32_t>(piece.data.size());
		return {.kind = Kind::data,
			.offset = received_ - static_cast<std::uint32_t>(piece.data.size()),
			.data = piece.data};
	case Receiver::Kind::end:
		return end(piece.damaged);
	case Receiver::Kind::fault:
		return fail(piece.fault, out);
	case Receiver::Kind::nothing:
		break;
	}
	return {};
}

AdminCodec::Fault AdminCodec::header(Bytes &out)
{
	const std::uint8_t type = receiver_.type();
	if (type == pdu_c2h_term)
		return {};
	if ((type == pdu_ic_resp) == ready_)
		return makeFault(fes_sequence, 0, ready_ ? "second ICResp" : "a PDU before ICResp");
	switch (type) {
	case pdu_ic_resp:
		return hello(receiver_.as<IcResp>());
	case pdu_c2h_data:
		return data(receiver_.as<DataPdu>());
	case pdu_r2t:
		return acceptR2t(out, receiver_.as<R2tPdu>());
	case pdu_response:
		return response(receiver_.as<ResponsePdu>().cqe);
	}
	return makeFault(fes_header, 0, "a PDU type that controllers do not send");
}

AdminCodec::Fault AdminCodec::hello(const IcResp &response)
{
	const auto asked = static_cast<std::uint8_t>(digests_.header | digests_.data << 1);
	if (response.pfv)
		return makeFault(fes_parameter, offsetof(IcResp, pfv), "the version of the PDU format");
	if (response.cpda > maxCpda)
		return makeFault(fes_header, offsetof(IcResp, cpda), "the alignment of data");
	if ((response.digest & 3) != asked)
		return makeFault(fes_header, offsetof(IcResp, digest), "digests other than requested");
	if (response.maxh2cdata < minH2cData || response.maxh2cdata % 4)
		return makeFault(fes_header, offsetof(IcResp, maxh2cdata), "MAXH2CDATA");
	maxData_ = response.maxh2cdata;
	format_ = {digests_.header, digests_.data, response.cpda};
	return {};
}

// Checks that the command is outstanding
AdminCodec::Fault AdminCodec::checkOutstanding(std::uint16_t cid, Slot &slot) const
{
	const auto index = static_cast<std::uint16_t>(cid & slotMask);
	if (index >= slotCount || !open(static_cast<Slot>(index)) || cids_[index] != cid)
		return makeFault(fes_header, sizeof(PduHeader), "response for a command that is not outstanding");
	slot = static_cast<Slot>(index);
	return {};
}

AdminCodec::Fault AdminCodec::data(const DataPdu &pdu)
{
	Slot slot{};
	if (const Fault fault = checkOutstanding(pdu.cid, slot))
		return fault;
	if (slot != Slot::command || !expected_)
		return makeFault(fes_header, offsetof(DataPdu, cid), "data for a command that is not a read");
	if (lastData_)
		return makeFault(fes_sequence, 0, "data after the last data PDU");
	if (pdu.offset != received_)
		return makeFault(fes_range, offsetof(DataPdu, offset), "data out of order");
	if (pdu.length > expected_ - received_)
		return makeFault(fes_range, offsetof(DataPdu, length), "more data than requested");
	lastData_ = pdu.h.flags & f_last;
	if (!(pdu.h.flags & f_success))
		return {};
	if (!lastData_)
		return makeFault(fes_header, offsetof(PduHeader, flags), "SUCCESS before the last data");
	if (pdu.length != expected_ - received_)
		return makeFault(fes_sequence, 0, "success with less data than requested");
	return {};
}

AdminCodec::Fault AdminCodec::acceptR2t(Bytes &out, const R2tPdu &pdu)
{
	Slot slot{};
	if (const Fault fault = checkOutstanding(pdu.cid, slot))
		return fault;
	if (slot != Slot::command || data_.empty())
		return makeFault(fes_header, offsetof(R2tPdu, cid), "R2T for a command that is not a write");
	if (pdu.offset != sent_ || !pdu.length || pdu.length > data_.size() - sent_)
		return makeFault(fes_range, offsetof(R2tPdu, offset), "R2T out of order");
	sendData(out, pdu);
	return {};
}

void AdminCodec::sendData(Bytes &out, const R2tPdu &pdu)
{
	for (const std::uint32_t end = sent_ + pdu.length; sent_ < end;) {
		const std::uint32_t length = std::min(end - sent_, maxData_);
		auto part = make<DataPdu>(pdu_h2c_data);
		part.h.flags = sent_ + length == end ? f_last : 0;
		part.cid = pdu.cid;
		part.ttag = pdu.ttag;
		part.offset = sent_;
		part.length = length;
		write(out, part, format_, data_.subspan(sent_, length));
		sent_ += length;
	}
}

AdminCodec::Fault AdminCodec::response(const Completion &completion)
{
	Slot slot{};
	if (const Fault fault = checkOutstanding(completion.cid, slot))
		return fault;
	if (slot != Slot::command || completion.status >> 1 & st_type_and_code)
		return {};
	if (received_ != expected_)
		return makeFault(fes_sequence, 0, "success with less data than requested");
	if (sent_ != data_.size())
		return makeFault(fes_sequence, 0, "success before all data were requested");
	return {};
}

AdminCodec::Received AdminCodec::done(Slot slot, const Completion &completion)
{
	open_ = static_cast<std::uint8_t>(open_ & ~(1u << static_cast<unsigned>(slot)));
	if (slot == Slot::command) {
		expected_ = received_ = sent_ = 0;
		data_ = {};
	}
	return {.kind = Kind::done, .slot = slot, .completion = completion};
}

AdminCodec::Received AdminCodec::end(bool damaged)
{
	if (damaged)
		return {.kind = Kind::fault, .fault = {fes_digest, 0, "data digest"}};
	Received received;
	switch (receiver_.type()) {
	case pdu_ic_resp:
		ready_ = true;
		receiver_.agree({digests_.header, digests_.data, 0});
		received.kind = Kind::ready;
		break;
	case pdu_response: {
		const auto completion = receiver_.as<ResponsePdu>().cqe;
		received = done(static_cast<Slot>(completion.cid & slotMask), completion);
		break;
	}
	case pdu_c2h_data:
		if (receiver_.as<DataPdu>().h.flags & f_success)
			received = done(Slot::command, success(receiver_.as<DataPdu>().cid));
		break;
	case pdu_c2h_term: {
		const auto term = receiver_.as<TermPdu>();
		received.kind = Kind::terminated;
		received.fault = {static_cast<FatalStatus>(std::uint16_t(term.fes)), term.fei, ""};
		break;
	}
	}
	received.violation = violationText();
	return received;
}

// Finds violations that the specification tells hosts to ignore, such as reserved bits that are not zero.
const char *AdminCodec::violationText() const
{
	if (receiver_.padded())
		return "padding that is not zero";
	const auto header = receiver_.as<PduHeader>();
	const int flags = header.flags & ~(f_hdgst | (header.type == pdu_c2h_data ? f_ddgst | f_last | f_success : 0));
	if (flags)
		return "reserved flags in a PDU";
	if (header.type != pdu_c2h_data && header.pdo)
		return "a data offset without data";
	switch (header.type) {
	case pdu_ic_resp:
		return allZero(receiver_.as<IcResp>().reserved) ? nullptr : "reserved bytes in ICResp";
	case pdu_c2h_data: {
		const auto pdu = receiver_.as<DataPdu>();
		return allZero(pdu.reserved) && !pdu.ttag ? nullptr : "reserved bytes in C2HData";
	}
	case pdu_r2t:
		return allZero(receiver_.as<R2tPdu>().reserved) ? nullptr : "reserved bytes in R2T";
	case pdu_response:
		return receiver_.as<ResponsePdu>().cqe.status & 1 ? "the phase bit of a completion" : nullptr;
	}
	return nullptr;
}

// H2CTermReq carries the header of the PDU in error.
AdminCodec::Received AdminCodec::fail(const PduFault &fault, Bytes &out)
{
	auto term = make<TermPdu>(pdu_h2c_term);
	term.fes = fault.fes;
	term.fei = fault.fei;
	write(out, term, {}, receiver_.head());
	return {.kind = Kind::fault, .fault = fault};
}

// ---- receiver

namespace {

using Stream = std::span<const std::uint8_t>;

Stream cutFront(Stream &bytes, std::size_t length)
{
	const Stream front = bytes.first(std::min(length, bytes.size()));
	bytes = bytes.subspan(front.size());
	return front;
}

} // namespace

// False: incomplete
bool Receiver::fill(Stream &bytes, std::span<std::uint8_t> to, std::size_t begin)
{
	const Stream front = cutFront(bytes, to.size() - (at_ - begin));
	std::ranges::copy(front, to.begin() + static_cast<std::ptrdiff_t>(at_ - begin));
	at_ += front.size();
	return at_ - begin == to.size();
}

Receiver::Piece Receiver::fault(const PduFault &what)
{
	return {Kind::fault, {}, false, what};
}

Receiver::Piece Receiver::header()
{
	part_ = Part::padding;
	if (shape_.head > size_) {
		const auto told = get<std::uint32_t>(head_, size_);
		if (told != crc32c(head()))
			return fault({fes_digest, told, "header digest"});
	}
	const bool data = type() == pdu_c2h_data || type() == pdu_h2c_data;
	if (data && as<DataPdu>().length != dataLength())
		return fault({fes_header, offsetof(DataPdu, length), "data length"});
	return {Kind::header, {}, false, {}};
}

void Receiver::pad(Stream &bytes)
{
	const Stream padding = cutFront(bytes, shape_.dataAt - at_);
	at_ += padding.size();
	padded_ = padded_ || std::ranges::any_of(padding, [](std::uint8_t byte) { return byte != 0; });
}

Receiver::Piece Receiver::data(Stream &bytes)
{
	const Stream part = cutFront(bytes, shape_.dataEnd - at_);
	at_ += part.size();
	if (shape_.length > shape_.dataEnd)
		sum_ = crc32c(sum_, part);
	return {Kind::data, part, false, {}};
}

Receiver::Piece Receiver::end(bool damaged)
{
	at_ = 0;
	part_ = Part::common;
	return {Kind::end, {}, damaged, {}};
}

bool Receiver::common(Stream &bytes, std::size_t longest)
{
	if (!fill(bytes, std::span(head_).first(sizeof(PduHeader)), 0))
		return false;
	const auto header = as<PduHeader>();
	shape_ = shapeOf(header, format_, longest);
	size_ = shape_.fault ? sizeof(header) : header.hlen;
	sum_ = 0;
	padded_ = false;
	part_ = Part::header;
	return true;
}

Receiver::Piece Receiver::next(Stream &bytes, std::size_t longest)
{
	for (;;) {
		switch (part_) {
		case Part::common:
			if (!common(bytes, longest))
				return {};
			if (shape_.fault)
				return fault(*shape_.fault);
			break;
		case Part::header:
			if (!fill(bytes, std::span(head_).first(shape_.head), 0))
				return {};
			return header();
		case Part::padding:
			pad(bytes);
			if (at_ < shape_.dataAt)
				return {};
			part_ = Part::data;
			break;
		case Part::data:
			if (at_ < shape_.dataEnd)
				return bytes.empty() ? Piece() : data(bytes);
			part_ = Part::tail;
			break;
		case Part::tail:
			if (!fill(bytes, std::span(tail_).first(shape_.length - shape_.dataEnd), shape_.dataEnd))
				return {};
			return end(shape_.length > shape_.dataEnd && get<std::uint32_t>(tail_, 0) != sum_);
		}
	}
}

} // namespace initiator
