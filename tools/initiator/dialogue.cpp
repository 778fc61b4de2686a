// SPDX-License-Identifier: LGPL-2.1-or-later
#include "dialogue.h"

#include <algorithm>
#include <cstddef>

namespace initiator {

using namespace nofctl::wire;

namespace {

constexpr std::size_t in_capsule = 8192; // in-capsule data that every controller accepts on an admin queue; 3.3.2.2.2
constexpr std::uint32_t least_h2c_data = 4096;
constexpr std::size_t longest_head = 255 + 4; // PDO is one byte; plus a digest
constexpr std::uint8_t longest_cpda = 31;
constexpr std::uint16_t slot_mask = 3;
constexpr std::uint16_t cid_step = slot_mask + 1;

template <class Layout> bool allZero(const Layout &bytes)
{
	return std::ranges::all_of(bytes, [](std::uint8_t byte) { return byte == 0; });
}

constexpr PduFault wrong(FatalStatus fes, std::size_t field, const char *why)
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

void Dialogue::hello(Bytes &out, Digests digests)
{
	wanted_ = digests;
	auto request = make<IcReq>();
	request.digest = static_cast<std::uint8_t>(digests.header | digests.data << 1);
	write(out, request);
}

void Dialogue::command(Bytes &out, Slot slot, Command cmd, Data data, std::uint32_t expected)
{
	auto pdu = make<CommandPdu>();
	last_ = static_cast<std::uint16_t>(last_ + cid_step);
	const auto index = static_cast<std::uint16_t>(slot);
	cids_[index] = static_cast<std::uint16_t>(last_ | index);
	open_ = static_cast<std::uint8_t>(open_ | 1u << index);
	cmd.cid = cids_[index];
	const bool inside = data.size() <= in_capsule;
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
std::size_t Dialogue::longest() const
{
	return std::max(sizeof(IcResp), longest_head + (expected_ - received_));
}

Dialogue::News Dialogue::next(Data &bytes, Bytes &out)
{
	for (;;) {
		const Receiver::Piece piece = receiver_.next(bytes, longest());
		if (piece.kind == Receiver::Kind::nothing)
			return {};
		News news = judge(piece, out);
		if (news.kind != Kind::nothing || news.odd)
			return news;
	}
}

Dialogue::News Dialogue::judge(const Receiver::Piece &piece, Bytes &out)
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

Dialogue::Fault Dialogue::header(Bytes &out)
{
	const std::uint8_t type = receiver_.type();
	if (type == pdu_c2h_term)
		return {};
	if ((type == pdu_ic_resp) == ready_)
		return wrong(fes_sequence, 0, ready_ ? "second ICResp" : "a PDU before ICResp");
	switch (type) {
	case pdu_ic_resp:
		return hello(receiver_.as<IcResp>());
	case pdu_c2h_data:
		return data(receiver_.as<DataPdu>());
	case pdu_r2t:
		return askedFor(out, receiver_.as<R2tPdu>());
	case pdu_response:
		return response(receiver_.as<ResponsePdu>().cqe);
	}
	return wrong(fes_header, 0, "a PDU type that controllers do not send");
}

Dialogue::Fault Dialogue::hello(const IcResp &response)
{
	const auto asked = static_cast<std::uint8_t>(wanted_.header | wanted_.data << 1);
	if (response.pfv)
		return wrong(fes_parameter, offsetof(IcResp, pfv), "the version of the PDU format");
	if (response.cpda > longest_cpda)
		return wrong(fes_header, offsetof(IcResp, cpda), "the alignment of data");
	if ((response.digest & 3) != asked)
		return wrong(fes_header, offsetof(IcResp, digest), "digests other than requested");
	if (response.maxh2cdata < least_h2c_data || response.maxh2cdata % 4)
		return wrong(fes_header, offsetof(IcResp, maxh2cdata), "MAXH2CDATA");
	longestData_ = response.maxh2cdata;
	format_ = {wanted_.header, wanted_.data, response.cpda};
	return {};
}

// Checks that the command is outstanding
Dialogue::Fault Dialogue::isNext(std::uint16_t cid, Slot &slot) const
{
	const auto index = static_cast<std::uint16_t>(cid & slot_mask);
	if (index >= slot_count || !open(static_cast<Slot>(index)) || cids_[index] != cid)
		return wrong(fes_header, sizeof(PduHeader), "response for a command that is not outstanding");
	slot = static_cast<Slot>(index);
	return {};
}

Dialogue::Fault Dialogue::data(const DataPdu &pdu)
{
	Slot slot{};
	if (const Fault fault = isNext(pdu.cid, slot))
		return fault;
	if (slot != Slot::command || !expected_)
		return wrong(fes_header, offsetof(DataPdu, cid), "data for a command that is not a read");
	if (lastData_)
		return wrong(fes_sequence, 0, "data after the last data PDU");
	if (pdu.offset != received_)
		return wrong(fes_range, offsetof(DataPdu, offset), "data out of order");
	if (pdu.length > expected_ - received_)
		return wrong(fes_range, offsetof(DataPdu, length), "more data than requested");
	lastData_ = pdu.h.flags & f_last;
	if (!(pdu.h.flags & f_success))
		return {};
	if (!lastData_)
		return wrong(fes_header, offsetof(PduHeader, flags), "SUCCESS before the last data");
	if (pdu.length != expected_ - received_)
		return wrong(fes_sequence, 0, "success with less data than requested");
	return {};
}

Dialogue::Fault Dialogue::askedFor(Bytes &out, const R2tPdu &pdu)
{
	Slot slot{};
	if (const Fault fault = isNext(pdu.cid, slot))
		return fault;
	if (slot != Slot::command || data_.empty())
		return wrong(fes_header, offsetof(R2tPdu, cid), "R2T for a command that is not a write");
	if (pdu.offset != sent_ || !pdu.length || pdu.length > data_.size() - sent_)
		return wrong(fes_range, offsetof(R2tPdu, offset), "R2T out of order");
	sendData(out, pdu);
	return {};
}

void Dialogue::sendData(Bytes &out, const R2tPdu &pdu)
{
	for (const std::uint32_t end = sent_ + pdu.length; sent_ < end;) {
		const std::uint32_t length = std::min(end - sent_, longestData_);
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

Dialogue::Fault Dialogue::response(const Completion &completion)
{
	Slot slot{};
	if (const Fault fault = isNext(completion.cid, slot))
		return fault;
	if (slot != Slot::command || completion.status >> 1 & st_type_and_code)
		return {};
	if (received_ != expected_)
		return wrong(fes_sequence, 0, "success with less data than requested");
	if (sent_ != data_.size())
		return wrong(fes_sequence, 0, "success before all data were requested");
	return {};
}

Dialogue::News Dialogue::done(Slot slot, const Completion &completion)
{
	open_ = static_cast<std::uint8_t>(open_ & ~(1u << static_cast<unsigned>(slot)));
	if (slot == Slot::command) {
		expected_ = received_ = sent_ = 0;
		data_ = {};
	}
	return {.kind = Kind::done, .slot = slot, .completion = completion};
}

Dialogue::News Dialogue::end(bool damaged)
{
	if (damaged)
		return {.kind = Kind::fault, .fault = {fes_digest, 0, "data digest"}};
	News news;
	switch (receiver_.type()) {
	case pdu_ic_resp:
		ready_ = true;
		receiver_.agree({wanted_.header, wanted_.data, 0});
		news.kind = Kind::ready;
		break;
	case pdu_response: {
		const auto completion = receiver_.as<ResponsePdu>().cqe;
		news = done(static_cast<Slot>(completion.cid & slot_mask), completion);
		break;
	}
	case pdu_c2h_data:
		if (receiver_.as<DataPdu>().h.flags & f_success)
			news = done(Slot::command, success(receiver_.as<DataPdu>().cid));
		break;
	case pdu_c2h_term: {
		const auto term = receiver_.as<TermPdu>();
		news.kind = Kind::terminated;
		news.fault = {static_cast<FatalStatus>(std::uint16_t(term.fes)), term.fei, ""};
		break;
	}
	}
	news.odd = oddity();
	return news;
}

// Finds violations that the specification tells hosts to ignore, such as reserved bits that are not zero.
const char *Dialogue::oddity() const
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
Dialogue::News Dialogue::fail(const PduFault &fault, Bytes &out)
{
	auto term = make<TermPdu>(pdu_h2c_term);
	term.fes = fault.fes;
	term.fei = fault.fei;
	write(out, term, {}, receiver_.head());
	return {.kind = Kind::fault, .fault = fault};
}

} // namespace initiator
